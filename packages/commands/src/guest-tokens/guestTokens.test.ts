import { createEventStore } from '@paylog/event-store/eventStore'
import { hashToken } from '@paylog/identity/identity'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { rememberedGuest, rememberGuestToken } from './guestTokens.ts'

const seenAt = new Date('2026-03-01T12:00:00.000Z')

const log = await startEventStore(t)
const timing = { readRetryTimeoutMs: 3_000, readTimeoutMs: 3_000 }
const store = createEventStore({ connectionString: log.connectionString, keys: log.keys, timing })
t.teardown(() => store.close())
const emailOfHash = rememberedGuest({ store, maxAgeMs: 3_600_000, now: () => seenAt })
const emailOf = (token: string) => emailOfHash(hashToken(token))
const metadata = { correlationId: 'c', causationId: 'c', actor: 'guest' }
const recordUse = (token: string, guest_email: string) =>
  rememberGuestToken(
    store,
    { kind: 'guest', guest_email, token_hash: hashToken(token) },
    seenAt.toISOString(),
    metadata,
  )

t.test('of two guests seen concurrently with one token both are recorded, and neither is remembered', async (t) => {
  await Promise.all(Array.from({ length: 6 }, (_, n) => recordUse('raced-token', `guest-${n % 2}@example.com`)))
  t.equal((await store.readStream(`guestToken-${hashToken('raced-token')}`)).length, 2)
  t.equal(await emailOf('raced-token'), undefined)
})

t.test('the lookup of a guest token is event_store_unavailable while the event store is down', async (t) => {
  await recordUse('ann-token', 'Ann@example.com')
  await log.kill()
  await t.rejects(emailOf('ann-token'), { code: 'event_store_unavailable' })
  await log.start()
  t.equal(await emailOf('ann-token'), 'Ann@example.com')
})
