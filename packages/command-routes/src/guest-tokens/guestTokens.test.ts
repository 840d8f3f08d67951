import { createEventStore } from '@paylog/event-store/eventStore'
import { hashToken } from '@paylog/identity/identity'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { rememberedGuest, rememberGuestToken } from './guestTokens.ts'

const seenMs = Date.parse('2026-03-01T12:00:00.000Z')
const maxAgeMs = 3_600_000
const clock = { nowMs: seenMs }

const log = await startEventStore(t)
const timing = { readRetryTimeoutMs: 3_000, readTimeoutMs: 3_000 }
const store = createEventStore({ connectionString: log.connectionString, keys: log.keys, timing })
t.teardown(() => store.close())
const emailOfHash = rememberedGuest({ store, maxAgeMs, now: () => new Date(clock.nowMs) })
const emailOf = (token: string) => emailOfHash(hashToken(token))
const recordUse = (token: string, guest_email: string, occurredMs = seenMs) =>
  rememberGuestToken(
    store,
    { kind: 'guest', guest_email, token_hash: hashToken(token) },
    new Date(occurredMs).toISOString(),
    { correlationId: 'c', causationId: 'c', actor: 'guest' },
  )

t.test('a guest token is remembered for the maximum age since it was last seen', async (t) => {
  await recordUse('ann-token', 'Ann@example.com')
  clock.nowMs = seenMs + maxAgeMs - 1
  t.equal(await emailOf('ann-token'), 'Ann@example.com')
  t.equal(await emailOf('other-token'), undefined)
  clock.nowMs = seenMs + maxAgeMs
  t.equal(await emailOf('ann-token'), undefined)
  await recordUse('ann-token', 'Ann@example.com', seenMs + maxAgeMs / 2)
  t.equal(await emailOf('ann-token'), 'Ann@example.com')
})

t.test('of two guests seen concurrently with one token both are recorded, and neither is remembered', async (t) => {
  clock.nowMs = seenMs + maxAgeMs / 2
  await Promise.all(Array.from({ length: 6 }, (_, n) => recordUse('raced-token', `guest-${n % 2}@example.com`)))
  t.equal((await store.readStream(`guestToken-${hashToken('raced-token')}`)).length, 2)
  t.equal(await emailOf('raced-token'), undefined)
})

t.test('the lookup of a guest token is event_store_unavailable while the event store is down', async (t) => {
  await log.kill()
  await t.rejects(emailOf('ann-token'), { code: 'event_store_unavailable' })
  await log.start()
  t.equal(await emailOf('ann-token'), 'Ann@example.com')
})
