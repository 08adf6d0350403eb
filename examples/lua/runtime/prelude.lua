-- Runs before a script, and takes from it what would lead around the host. Gives the runtime a function that says how many
-- collections came to their end so far.

local set_metatable, raw_get, raise, type_of = setmetatable, rawget, error, type

-- What one collection finds dead is replaced by its like for the next one to find.
local collections = 0
local sentinel = {}
function sentinel.__gc()
    collections = collections + 1
    set_metatable({}, sentinel)
end
set_metatable({}, sentinel)

-- A finalizer would run when it likes: outside every limit, after the end of the run, and when the functions of the host
-- are gone already.
function setmetatable(table, metatable)
    if type_of(metatable) == "table" and raw_get(metatable, "__gc") ~= nil then
        raise("there are no finalizers", 2)
    end
    return set_metatable(table, metatable)
end

-- Files, and code that nobody has checked.
dofile, loadfile, load, warn = nil, nil, nil, nil

-- Chance that a replay could not repeat.
math.randomseed(0)

print = console.print

return function()
    return collections
end
