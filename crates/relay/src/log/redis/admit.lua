#!lua
-- Counts a start and a running turn of a user, unless there are too many. Starts are counted as by a bucket that holds a minute's
-- starts and fills evenly: what is kept is the time at which it is full again.
-- KEYS: the user's starts, the user's running turns. ARGV: the turn, starts in a minute, running turns, milliseconds to live until
-- the turn is there.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local is_new = not redis.call('ZSCORE', KEYS[2], ARGV[1])
if is_new and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then return {'ok', 'turns'} end

local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + 60000 / ARGV[2]
local early = full - now - 60000
if early > 0 then return {'ok', 'starts', string.format('%d', math.ceil(early))} end
redis.call('SET', KEYS[1], string.format('%d', math.ceil(full)), 'PX', math.ceil(full - now))

local expires = now + ARGV[4]
if is_new then redis.call('ZADD', KEYS[2], expires, ARGV[1]) end
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[2], ARGV[4]) end
return {'ok'}
