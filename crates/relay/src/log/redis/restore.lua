#!lua
-- Makes a turn again that was lost, without its frames, unless it is there or was removed on purpose.
-- KEYS: the turn, what is left of a removed one. ARGV: log, epoch, milliseconds to live, then its fields.
if redis.call('EXISTS', KEYS[1]) > 0 then return {'fenced'} end
if redis.call('EXISTS', KEYS[2]) > 0 then return {'removed'} end
local info = redis.call('INFO', 'replication')
redis.call('HSET', KEYS[1], 'log', ARGV[1], 'epoch', ARGV[2], 'last', '0', 'bytes', '0',
  'generation', string.match(info, 'master_replid:(%x+)'), unpack(ARGV, 4))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'ok'}
