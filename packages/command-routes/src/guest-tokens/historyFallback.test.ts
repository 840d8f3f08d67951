import { guestTokenFold } from '@paylog/domain/guestToken'
import { createEventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'
import { hashToken } from '@paylog/identity/identity'
import { createSandboxIdentity, type SandboxFault } from '@paylog/identity/sandboxIdentity'
import { startEventStore } from '@paylog/testing/eventStore'
import { listen } from '@paylog/testing/fakeServer'
import t from 'tap'
import { callersHarness, verbs } from '../testing/callersHarness.ts'
import { rememberedGuest, rememberGuestToken } from './guestTokens.ts'

const seenMs = Date.parse('2026-03-01T12:00:00.000Z')
const maxAgeMs = 3_600_000
const clock = { nowMs: seenMs }
const now = () => new Date(clock.nowMs)

const user = { id: 'u1', email: 'ada@example.com', name: 'Ada', userType: 'user' }
const guest = { token: 'valid-token', email: 'valid@example.com', name: 'V', expires_at: null }
/** The backend's fault for each request, in order; the last entry repeats. */
let faults: (SandboxFault | undefined)[] = []
const backend = createSandboxIdentity({
  sessions: [{ session_id: 'valid-session', user, expires_at: null }],
  guestTokens: [guest],
  now: Date.now,
  fault: () => (faults.length > 1 ? faults.shift() : faults[0]),
})

const log = await startEventStore(t)
const store = createEventStore({
  connectionString: log.connectionString,
  keys: log.keys,
  timing: { readRetryTimeoutMs: 3_000, readTimeoutMs: 3_000 },
})
t.teardown(() => store.close())
const lookedUp: string[] = []
const emailOf = rememberedGuest({ store, maxAgeMs, now })
const { send, logged } = await callersHarness(t, {
  authUrl: await listen(t, backend),
  async emailOf(tokenHash) {
    lookedUp.push(tokenHash)
    return emailOf(tokenHash)
  },
})

const metadata = { correlationId: 'c', causationId: 'c', actor: 'guest' }
const recordUse = (token: string, guest_email: string, occurredMs = seenMs) =>
  rememberGuestToken(
    store,
    { kind: 'guest', guest_email, token_hash: hashToken(token) },
    new Date(occurredMs).toISOString(),
    metadata,
  )
await recordUse('ann-token', 'Ann@example.com')
await recordUse('ben-token', 'ben@example.com')

/** @returns the caller or the error code, and the tokens that were looked up */
async function callerOf(headers: readonly string[], query = '', path = '/remembered') {
  lookedUp.length = 0
  const { status, body } = await send({ method: 'PUT', path: `${path}${query}`, headers })
  const { guest_email, user_id, error } = JSON.parse(body)
  const names = new Map(['ann', 'ben', 'eve', 'valid'].map((name) => [hashToken(`${name}-token`), name]))
  return {
    status,
    caller: guest_email ?? user_id ?? error.code,
    lookedUp: lookedUp.map((hash) => names.get(hash) ?? hash),
  }
}
const ann = { status: 200, caller: 'Ann@example.com', lookedUp: ['ann'] }
const rejected = { status: 401, caller: 'unauthenticated', lookedUp: [] }

t.beforeEach(() => {
  faults = []
  clock.nowMs = seenMs + 1
})

t.test('an expired guest token is remembered in each header and parameter that may carry it', async (t) => {
  t.same(await callerOf(['Authorization', 'Token ann-token']), ann)
  t.same(await callerOf(['X-Guest-Token', 'ann-token']), ann)
  t.same(await callerOf([], '?token=ann-token'), ann)
  for (const method of verbs) t.equal((await send({ method, path: '/remembered?token=ann-token' })).status, 200, method)
})

t.test('a remembered caller is the same guest, marked is_remembered', async (t) => {
  const { body } = await send({ path: '/remembered', headers: ['X-Guest-Token', 'ann-token'] })
  t.strictSame(JSON.parse(body), {
    kind: 'guest',
    guest_email: 'Ann@example.com',
    token_hash: hashToken('ann-token'),
    is_remembered: true,
  })
})

t.test('routes without the guest token fallback look up no token', async (t) => {
  for (const path of ['/known', '/anyone'])
    t.same(await callerOf(['X-Guest-Token', 'ann-token'], '', path), rejected, path)
})

t.test('a token is remembered only when it is sent as a guest token [5-history-guests]', async (t) => {
  t.same(await callerOf(['Authorization', 'Bearer ann-token']), rejected)
  t.same(await callerOf(['X-Session-ID', 'ann-token']), rejected)
  t.same(await callerOf([], '?session_id=ann-token'), rejected)
  t.same(await callerOf(['Authorization', 'Basic ann-token']), rejected)
  t.same(
    await callerOf(['X-Guest-Token', 'ann-token', 'X-Guest-Token', 'ann-token']),
    rejected,
    'a repeated header is no token',
  )
  t.same(await callerOf(['X-Guest-Token', 'ann token']), rejected)
  t.same(await callerOf([]), rejected)
})

t.test('a valid credential takes precedence over a remembered one in any order [5-history-last]', async (t) => {
  const ada = { status: 200, caller: 'u1', lookedUp: [] }
  t.same(await callerOf(['Authorization', 'Token ann-token', 'X-Session-ID', 'valid-session']), ada)
  t.same(await callerOf(['X-Guest-Token', 'ann-token'], '?session_id=valid-session'), ada)
  t.same(await callerOf(['X-Guest-Token', 'ann-token'], '?token=valid-token'), { ...ada, caller: 'valid@example.com' })
})

t.test('of several remembered guest tokens the first in interface order counts', async (t) => {
  t.same(await callerOf(['X-Guest-Token', 'ben-token', 'Authorization', 'Token ann-token'], '?token=eve-token'), ann)
  t.same(await callerOf(['X-Guest-Token', 'ann-token', 'Authorization', 'Token eve-token'], '?token=ben-token'), {
    ...ann,
    lookedUp: ['eve', 'ann'],
  })
  t.same(await callerOf(['X-Session-ID', 'gone', 'X-Guest-Token', 'eve-token'], '?session_id=gone&token=ann-token'), {
    ...ann,
    lookedUp: ['eve', 'ann'],
  })
  t.same(await callerOf(['X-Guest-Token', 'eve-token']), { ...rejected, lookedUp: ['eve'] })
})

t.test('no token is remembered while the identity backend fails for any of the credentials', async (t) => {
  const headers = ['Authorization', 'Token ann-token', 'X-Session-ID', 'gone', 'X-Guest-Token', 'ben-token']
  const query = '?session_id=gone&token=eve-token'
  const broken: SandboxFault[] = ['drop', { status: 500, body: '{}' }, { status: 200, body: '<html>' }]
  for (const fault of broken)
    for (let responses = 0; responses < 5; responses++) {
      faults = [...Array<undefined>(responses), fault]
      t.same(
        await callerOf(headers, query),
        { status: 503, caller: 'identity_unavailable', lookedUp: [] },
        `${JSON.stringify(fault)} after ${responses}`,
      )
    }
  faults = []
  t.same(await callerOf(headers, query), ann, 'after the backend recovers')
})

t.test('a guest token is forgotten after the maximum age', async (t) => {
  clock.nowMs = seenMs + maxAgeMs - 1
  t.same(await callerOf(['X-Guest-Token', 'ann-token']), ann)
  clock.nowMs = seenMs + maxAgeMs
  t.same(await callerOf(['X-Guest-Token', 'ann-token']), { ...rejected, lookedUp: ['ann'] })
  await recordUse('later-token', 'later@example.com', seenMs)
  await recordUse('later-token', 'later@example.com', seenMs + maxAgeMs / 2)
  t.match(await callerOf(['X-Guest-Token', 'later-token']), { status: 200, caller: 'later@example.com' })
  clock.nowMs = seenMs + maxAgeMs * 1.5
  t.match(await callerOf(['X-Guest-Token', 'later-token']), { status: 401 })
})

t.test('a guest token last seen in the future is not remembered', async (t) => {
  await recordUse('future-token', 'future@example.com', seenMs + 10 * maxAgeMs)
  for (const nowMs of [seenMs, seenMs + maxAgeMs, seenMs + 11 * maxAgeMs]) {
    clock.nowMs = nowMs
    t.match(await callerOf(['X-Guest-Token', 'future-token']), { status: 401 })
  }
})

t.test('a guest token seen for two guests is remembered for neither', async (t) => {
  await recordUse('shared-token', 'one@example.com')
  t.match(await callerOf(['X-Guest-Token', 'shared-token']), { status: 200, caller: 'one@example.com' })
  await recordUse('shared-token', 'ONE@example.com', seenMs + 1)
  t.match(await callerOf(['X-Guest-Token', 'shared-token']), { status: 200, caller: 'one@example.com' })
  await recordUse('shared-token', 'two@example.com', seenMs + 2)
  t.match(await callerOf(['X-Guest-Token', 'shared-token']), { status: 401 })
  await recordUse('shared-token', 'two@example.com', seenMs + 120_000)
  t.match(await callerOf(['X-Guest-Token', 'shared-token']), { status: 401 })
})

t.test('two guests seen concurrently with one token are both recorded', async (t) => {
  await Promise.all(Array.from({ length: 6 }, (_, n) => recordUse('raced-token', `guest-${n % 2}@example.com`)))
  const stream = guestTokenStream(hashToken('raced-token'))
  t.equal((await store.readStream(stream)).length, 2)
  t.match((await store.load(stream, guestTokenFold)).state, { is_ambiguous: true })
  t.match(await callerOf(['X-Guest-Token', 'raced-token']), { status: 401 })
})

t.test('guest token events contain no token, and log lines contain neither token nor e-mail', async (t) => {
  const recorded: string[] = []
  for await (const { type, data, stream, metadata } of store.readLog({ prefixes: ['guestToken-'] }))
    recorded.push(JSON.stringify({ type, data, stream, metadata }))
  t.ok(recorded.length > 5)
  t.notMatch(recorded.join(), /-token/)
  t.ok(logged.length > 20)
  t.notMatch(logged.join(), /-token|@example/)
})

t.test('the guest token fallback is 503 while the event store is down', async (t) => {
  await log.kill()
  t.same(await callerOf(['X-Guest-Token', 'ann-token']), {
    status: 503,
    caller: 'event_store_unavailable',
    lookedUp: ['ann'],
  })
  t.match(await callerOf(['X-Guest-Token', 'valid-token']), { status: 200 }, 'a valid token needs no lookup')
  t.same(await callerOf(['X-Session-ID', 'gone']), rejected)
  await log.start()
  t.same(await callerOf(['X-Guest-Token', 'ann-token']), ann)
})
