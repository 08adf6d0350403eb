-- Reads the log of a small web server, and searches for clients that request missing pages too often. The argument is
-- the limit. Finding such a client is an error.

local limit = tonumber((...)) or 3

local requests, missed = 0, {}
local log = files.open("access.log")
for line in log.line, log do
    local client, path, status = line:match('^(%S+) "%u+ (%S+)" (%d+)$')
    if not client then
        console.print("not understood:", line)
    else
        requests = requests + 1
        if status == "404" then
            local paths = missed[client] or {}
            paths[#paths + 1] = path
            missed[client] = paths
        end
    end
end
log:close()

local clients = {}
for client in pairs(missed) do
    clients[#clients + 1] = client
end
table.sort(clients)

console.print(requests, "requests,", #clients, "clients missed something")
for _, client in ipairs(clients) do
    console.print(client, missed[client])
    if #missed[client] >= limit then
        error(("%s asks too often for what is not there"):format(client), 0)
    end
end
