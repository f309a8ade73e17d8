"""What is asked of the server, each in one step that no other worker's step comes between.

Invariant: a lease is changed by its holder alone, whose token it holds, and whatever else stands under the keys makes
no script fail: with a value of another type there is no page, and nobody's turn. A server that is full still answers.
"""

from __future__ import annotations

CLAIM = """
-- KEYS: page, lease. ARGV: token, lease in ms, most bytes of a page, most bytes of one that comes at once.
local size = redis.pcall('STRLEN', KEYS[1])
if type(size) == 'number' and size > 0 and size <= tonumber(ARGV[3]) then
  if size > tonumber(ARGV[4]) then return {'large', size, redis.call('PTTL', KEYS[1])} end
  return {'page', redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
end
local holder = redis.pcall('GET', KEYS[2])
if holder == ARGV[1] then return {'yours'} end
if holder == false then
  local reply = redis.pcall('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
  return {reply.ok and 'yours' or 'free'}
end
if type(holder) == 'string' and holder ~= 'unfit' then return {'theirs'} end
return {'free'}
"""
"""Take the page or, where there is none, the turn to load it. Replies `page`, its bytes and its time left in ms;
`large`, its size and its time left: it is to be fetched; `yours`; `theirs`; or `free`: load it, and so may others."""

RENEW = """
-- KEYS: lease. ARGV: token, lease in ms.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
"""
"""Keep a lease for longer."""

RELEASE = """
-- KEYS: lease. ARGV: token, for how long the page is known to be unfit in ms.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '0' and redis.pcall('SET', KEYS[1], 'unfit', 'PX', ARGV[2]).ok then return 1 end
return redis.call('DEL', KEYS[1])
"""
"""Give a lease back; where the page turned out not to be one that is kept, nobody waits for it for a while."""
