#!lua
-- Begins a turn, unless it is there.
-- KEYS: the turn, what is left of a removed one. ARGV: log, milliseconds to live, then its fields.
if redis.call('EXISTS', KEYS[1]) == 1 then
  -- The same call again, whose answer was lost, finds its own log.
  if redis.call('HGET', KEYS[1], 'log') == ARGV[1] and redis.call('HGET', KEYS[1], 'epoch') == '1' then return {'ok'} end
  return {'closed'}
end
local info = redis.call('INFO', 'replication')
redis.call('HSET', KEYS[1], 'log', ARGV[1], 'epoch', '1', 'last', '0', 'bytes', '0',
  'generation', string.match(info, 'master_replid:(%x+)'), unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])
return {'ok'}
