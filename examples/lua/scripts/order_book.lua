-- A day at a small exchange. Each gate has a log of its orders. The script merges the logs by time, trades matching
-- orders, and keeps what each desk holds and owes in a store.

-- Iterates over the orders of one log.
local function orders(name)
    return coroutine.create(function()
        local log = files.open(name)
        for line in log.line, log do
            local time, side, item, count, price, desk = line:match("^(%S+)%s+(%l+)%s+(%u+)%s+(%d+)%s+(%d+)%s+(%l+)$")
            coroutine.yield {
                time = time, side = side, item = item, count = tonumber(count), price = tonumber(price), desk = desk,
            }
        end
        log:close()
    end)
end

local function next_order(source)
    local resumed, order = coroutine.resume(source)
    if not resumed then
        error(order, 0)
    end
    return order
end

-- Iterates over the orders of all logs by time.
local function merged(names)
    local waiting = {}
    for _, name in ipairs(names) do
        local source = orders(name)
        waiting[#waiting + 1] = { source = source, order = next_order(source) }
    end
    console.print("merging", waiting[1].source, "and", #waiting - 1, "more")
    return function()
        local first
        for _, candidate in ipairs(waiting) do
            if candidate.order and (not first or candidate.order.time < first.order.time) then
                first = candidate
            end
        end
        if first then
            local order = first.order
            first.order = next_order(first.source)
            return order
        end
    end
end

-- The offers and requests for each item, sorted by price and then by age.
local Book = {}
Book.__index = Book

function Book.new()
    return setmetatable({ buy = {}, sell = {}, trades = {} }, Book)
end

local function better(side, price, other)
    if side == "buy" then return price > other else return price < other end
end

-- Keeps the rest of an order.
function Book:keep(order)
    local side = self[order.side]
    local place = #side + 1
    while place > 1 and better(order.side, order.price, side[place - 1].price) do
        place = place - 1
    end
    table.insert(side, place, order)
end

function Book:enter(order, traded)
    local others = self[order.side == "buy" and "sell" or "buy"]
    while order.count > 0 and others[1] and not better(order.side, others[1].price, order.price) do
        local other = others[1]
        local count = math.min(order.count, other.count)
        order.count, other.count = order.count - count, other.count - count
        if other.count == 0 then
            table.remove(others, 1)
        end
        local buy = order.side == "buy" and order or other
        local sell = order.side == "buy" and other or order
        traded { item = order.item, count = count, price = other.price, buyer = buy.desk, seller = sell.desk, time = order.time }
    end
    if order.count > 0 then
        self:keep(order)
    end
end

-- The store takes bytes: a position is two numbers of eight bytes.
local function move(ledger, desk, item, count, money)
    local key = desk .. "/" .. item
    local held, paid = 0, 0
    local position = ledger:get(key)
    if position then
        held, paid = string.unpack("<i8i8", position)
    end
    ledger:put(key, string.pack("<i8i8", held + count, paid + money))
end

-- The closing price of an item: its name, with the length before it, and a float.
local function closing_prices(name)
    local bytes, prices, place = files.read(name), {}, 1
    while place <= #bytes do
        local item, price
        item, price, place = string.unpack("<s1d", bytes, place)
        prices[item] = price
    end
    return prices
end

local credentials = { user = "clerk", password = "correct horse battery staple" }
local ledger = kv.open("ledger", credentials)

local books, trades, volume = {}, {}, 0
local function traded(trade)
    trades[#trades + 1] = trade
    volume = volume + trade.count * trade.price
    move(ledger, trade.buyer, trade.item, trade.count, trade.count * trade.price)
    move(ledger, trade.seller, trade.item, -trade.count, -trade.count * trade.price)
end

local count = 0
for order in merged(files.list("orders")) do
    books[order.item] = books[order.item] or Book.new()
    books[order.item]:enter(order, traded)
    count = count + 1
end
console.print(("%d orders, %d trades, %d paid."):format(count, #trades, volume))

-- The gains and losses of all desks cancel out.
local closing, worth, gained = closing_prices("closing.bin"), {}, 0.0
for _, key in ipairs(ledger:keys("")) do
    local desk, item = key:match("^(.*)/(.*)$")
    local held, paid = string.unpack("<i8i8", ledger:get(key))
    worth[desk] = (worth[desk] or 0.0) + held * closing[item] - paid
end
for _, desk in ipairs { "loft", "mill", "quay", "yard" } do
    console.print(("%s: %+.1f"):format(desk, worth[desk]))
    gained = gained + worth[desk]
end
assert(gained == 0.0, "something was won from nobody")
console.print("The day's results:", { worth = worth, last = trades[#trades], closing = closing })

-- Calls that fail, and that the script survives.
local found, why = pcall(files.read, "orders/sea.log")
console.print("The log of the sea gate:", found or why)
found, why = pcall(kv.open, "ledger", { user = "clerk", password = "let me in" })
console.print("The ledger for whoever asks:", found or why)
found, why = pcall(files.write, "report.txt", "all is well")
console.print("The report:", found or why)

ledger:close()
