// Which of several credentials identifies the caller.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import t, { type Test } from 'tap'
import { createIdentity } from './identity.ts'
import { createSandboxIdentity, demoGuestTokens, demoSessions, type SandboxFault } from './sandboxIdentity.ts'
import { listen, sandbox } from './testing/identityHarness.ts'

type Presented = readonly [way: string, state: string]

/** Headers and query of these credentials. One that is repeated is sent twice; crossed, it is of the other kind. */
function requestWith(presented: readonly Presented[]) {
  const [headers, query]: [IncomingHttpHeaders, Record<string, unknown>] = [{}, {}]
  for (const [way, state] of presented) {
    const isSession = sessionWays.includes(way)
    const good = isSession ? 'demo-session' : 'demo-guest-token'
    const crossed = isSession ? 'demo-guest-token' : 'demo-session'
    const texts: Record<string, string> = { valid: good, expired: isSession ? 'expired' : 'stale', crossed, empty: '' }
    const text = texts[state] ?? `${state} words`
    if (way.includes('_') || way === 'token') query[way] = state === 'repeated' ? [good, good] : text
    else if (way.startsWith('x-')) headers[way] = state === 'repeated' ? `${good}, ${good}` : text
    else headers.authorization = `${way} ${state === 'repeated' ? `${good}, ${way} ${good}` : text}`
  }
  return [headers, query] as const
}

const sessionWays = ['Bearer', 'x-session-id', 'session_id']
/** In the order in which they are tried. There is one Authorization header, with one of two schemes. */
const places = [['Bearer', 'Token'], ['x-session-id'], ['x-guest-token'], ['session_id'], ['token']]
const checkedStates = ['valid', 'expired', 'crossed']
const states = [...checkedStates, 'empty', 'malformed', 'repeated']
const oneOf = (place: readonly string[], among: readonly string[]): Presented[] =>
  place.flatMap((way) => among.map((state) => [way, state] as const))

/** Asserts that the first valid credential counts, that those before it are validated, and no other ones. */
async function firstCounts(t: Test, all: readonly (readonly Presented[])[]): Promise<void> {
  const { actorOf, requests } = await sandbox(t)
  for (const presented of all) {
    requests.length = 0
    const first = presented.findIndex(([, state]) => state === 'valid')
    const way = presented[first]?.[0]
    const expected = way === undefined ? 'unauthenticated' : sessionWays.includes(way) ? 'session' : 'guest'
    const { kind } = await actorOf(...requestWith(presented)).catch(({ code }) => ({ kind: code }))
    const tried = way === undefined ? presented : presented.slice(0, first + 1)
    const calls = tried.filter(([, state]) => checkedStates.includes(state)).length
    t.same([kind, requests.length], [expected, calls], presented.map(String).join(' '))
  }
}

t.test('each credential alone identifies its caller in every state [5-states]', (t) =>
  firstCounts(
    t,
    places.flatMap((place) => oneOf(place, states).map((one) => [one])),
  ),
)

t.test('of several credentials the first valid one counts [5-first-valid]', async (t) => {
  const pairs = places.flatMap((place, at) =>
    oneOf(place, states).flatMap((one) =>
      places.slice(at + 1).flatMap((other) => oneOf(other, states).map((two) => [one, two])),
    ),
  )
  const among = ['valid', 'expired', 'repeated']
  const fives = places.reduce<readonly (readonly Presented[])[]>(
    (started, place) => started.flatMap((some) => oneOf(place, among).map((each) => [...some, each])),
    [[]],
  )
  t.same([pairs.length, fives.length], [14 * 36, 2 * 3 ** 5])
  await firstCounts(t, [...pairs, ...fives])
})

/** Callers of a backend that knows the demo guest, and remembers `known` and `also`. @returns the tokens that are looked up */
async function remembering(t: Test) {
  const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')
  const state: { fault: SandboxFault | undefined } = { fault: undefined }
  const users = { sessions: demoSessions, guestTokens: demoGuestTokens, now: Date.now, fault: () => state.fault }
  const authUrl = await listen(t, createSandboxIdentity(users))
  const identity = createIdentity({
    authUrl,
    service: 'payments',
    adminUserTypes: [],
    rights: new Map(),
    timeoutMs: 2_000,
  })
  t.teardown(() => identity.close())
  const tokens = new Map(['known', 'also', 'unknown'].map((token) => [hashOf(token), token]))
  const lookedUp: (string | undefined)[] = []
  const actorOf = identity.actorOrRemembered(async (hash) => {
    const token = tokens.get(hash)
    lookedUp.push(token)
    return token === 'unknown' ? undefined : `${token}@example.com`
  })
  return {
    state,
    hashOf,
    lookedUp,
    callerOf(headers: IncomingHttpHeaders, query: Record<string, unknown> = {}) {
      lookedUp.length = 0
      return actorOf({ headers, query })
    },
  }
}

t.test('when every credential is invalid, the first remembered guest token identifies its guest', async (t) => {
  const { callerOf, lookedUp, hashOf } = await remembering(t)
  const remembered = {
    kind: 'guest',
    guest_email: 'known@example.com',
    token_hash: hashOf('known'),
    is_remembered: true,
  }
  const presented: readonly [IncomingHttpHeaders, Record<string, unknown>, readonly string[]][] = [
    [{ authorization: 'Token known' }, {}, ['known']],
    [{ 'x-guest-token': 'known' }, { token: 'also' }, ['known']],
    [{ authorization: 'Token unknown', 'x-session-id': 'gone' }, { token: 'known' }, ['unknown', 'known']],
  ]
  for (const [headers, query, tried] of presented) {
    t.same(await callerOf(headers, query), remembered)
    t.same(lookedUp, tried)
  }
})

t.test('a token is remembered only when it is sent as a guest token [5-history-guests]', async (t) => {
  const { callerOf, lookedUp } = await remembering(t)
  for (const headers of [
    { authorization: 'Bearer known' },
    { authorization: 'Basic known' },
    { 'x-session-id': 'known' },
    { 'x-guest-token': 'known, known' },
  ])
    await t.rejects(callerOf(headers), { code: 'unauthenticated' }, JSON.stringify(headers))
  await t.rejects(callerOf({}, { session_id: 'known' }), { code: 'unauthenticated' })
  t.same(lookedUp, [])
})

t.test('a valid credential takes precedence over a remembered one in any order [5-history-last]', async (t) => {
  const { callerOf, lookedUp } = await remembering(t)
  const token = { authorization: 'Token known' }
  t.match(await callerOf({ ...token, 'x-session-id': 'demo-session' }), { kind: 'session' })
  t.match(await callerOf({ 'x-guest-token': 'known' }, { session_id: 'demo-session' }), { kind: 'session' })
  t.match(await callerOf(token, { token: 'demo-guest-token' }), { guest_email: 'guest@example.com' })
  t.same(lookedUp, [])
})

t.test('no token is remembered while the backend fails for any of the credentials', async (t) => {
  const { callerOf, lookedUp, state } = await remembering(t)
  for (const fault of ['drop', { status: 500, body: '{}' }, { status: 200, body: '<html>' }] as const) {
    state.fault = fault
    const caller = callerOf({ authorization: 'Token known', 'x-session-id': 'gone' }, { token: 'also' })
    await t.rejects(caller, { code: 'identity_unavailable' }, JSON.stringify(fault))
  }
  t.same(lookedUp, [])
})
