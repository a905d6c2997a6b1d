#!lua flags=allow-oom
-- Takes a turn over. If the store is not the one that had the last append, frames may be missing: the log gets a new id.
-- An end that is held back is not discarded before the caller says so.
-- KEYS: the turn, its channel. ARGV: the epoch that was seen, a new id, how to publish, 'discard' or ''.
local turn = redis.call('HMGET', KEYS[1], 'log', 'epoch', 'end', 'generation', 'held')
if not turn[1] then return {'gone'} end
if turn[3] then return {'closed'} end
if turn[2] ~= ARGV[1] then return {'fenced'} end
if turn[5] and ARGV[4] == '' then return {'ok', turn[1], turn[2], 'held'} end
redis.call('HDEL', KEYS[1], 'held', 'place')
local log, epoch = turn[1], string.format('%d', tonumber(turn[2]) + 1)
local generation = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if generation ~= turn[4] then log = ARGV[2] end
redis.call('HSET', KEYS[1], 'log', log, 'epoch', epoch, 'generation', generation)
redis.call(ARGV[3], KEYS[2], '')
return {'ok', log, epoch}
