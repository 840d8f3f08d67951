import { createSandboxIdentity } from '@paylog/identity/sandboxIdentity'
import { listen } from '@paylog/testing/fakeServer'
import t from 'tap'
import { type CallerRequest, callersHarness, type Verb, verbs } from '../callersHarness.ts'

// A model of the credential table and its first rule (interface, section 5), independent of the implementation.

const ways = ['Bearer', 'Token', 'X-Session-ID', 'X-Guest-Token', 'session_id', 'token'] as const
type Way = (typeof ways)[number]
const sessionWays: readonly Way[] = ['Bearer', 'X-Session-ID', 'session_id']
/** There is one Authorization header, with one of the two schemes. */
const places: readonly (readonly Way[])[] = [
  ['Bearer', 'Token'],
  ['X-Session-ID'],
  ['X-Guest-Token'],
  ['session_id'],
  ['token'],
]
const states = ['valid', 'invalid', 'expired', 'empty', 'malformed', 'repeated', 'crossed'] as const
type State = (typeof states)[number]
type Presented = { readonly way: Way; readonly state: State }

const idOf = (way: Way) => `user of ${way}`
const emailOf = (way: Way) => `${way.toLowerCase()}@example.com`
const users = ways.map((way) => ({ id: idOf(way), email: emailOf(way), name: way, userType: 'user' }))
const past = '2020-01-01T00:00:00Z'

function textOf({ way, state }: Presented): string {
  switch (state) {
    case 'empty':
      return ''
    case 'malformed':
      return 'two words'
    case 'repeated':
      return `valid-${way}`
    // Valid as the other kind of credential.
    case 'crossed':
      return sessionWays.includes(way) ? 'valid-token' : 'valid-session_id'
    default:
      return `${state}-${way}`
  }
}

/** The credentials in reverse order of precedence. */
function requestWith(presented: readonly Presented[], path: string, method?: Verb): CallerRequest {
  const headers: string[] = []
  const query: string[] = []
  for (const each of presented.toReversed()) {
    const value = textOf(each)
    const times = each.state === 'repeated' ? 2 : 1
    for (let n = 0; n < times; n++)
      if (each.way === 'session_id' || each.way === 'token') query.push(`${each.way}=${encodeURIComponent(value)}`)
      else if (each.way === 'Bearer' || each.way === 'Token') headers.push('Authorization', `${each.way} ${value}`)
      else headers.push(each.way, value)
  }
  return { ...(method && { method }), path: query.length === 0 ? path : `${path}?${query.join('&')}`, headers }
}

type Expected = { readonly status: number; readonly id?: string; readonly queries: readonly string[] }

/** The first valid credential counts, in the order of `ways`. */
function expected(presented: readonly Presented[]): Expected {
  const queries: string[] = []
  for (const { way, state } of presented) {
    if (state === 'empty' || state === 'malformed' || state === 'repeated') continue
    queries.push(sessionWays.includes(way) ? 'session' : 'token')
    if (state === 'valid') return { status: 200, id: sessionWays.includes(way) ? idOf(way) : emailOf(way), queries }
  }
  return { status: presented.length === 0 ? 200 : 401, queries }
}

/** All combinations with one entry of each list. */
const product = (lists: readonly (readonly Presented[])[]): readonly (readonly Presented[])[] =>
  lists.reduce<readonly (readonly Presented[])[]>(
    (soFar, list) => soFar.flatMap((some) => list.map((each) => [...some, each])),
    [[]],
  )
/** All ordered subsets of this size. */
const choices = <Item>(items: readonly Item[], count: number): readonly (readonly Item[])[] =>
  count === 0 ? [[]] : items.flatMap((item, n) => choices(items.slice(n + 1), count - 1).map((rest) => [item, ...rest]))
const combinations = (count: number, among: readonly State[]) =>
  choices(places, count).flatMap((chosen) =>
    product(chosen.map((place) => place.flatMap((way) => among.map((state) => ({ way, state }))))),
  )
const named = (presented: readonly Presented[]) => presented.map(({ way, state }) => `${way} ${state}`).join(', ')

const sessions = users.flatMap((user) => [
  { session_id: `valid-${user.name}`, user, expires_at: null as string | null },
  { session_id: `expired-${user.name}`, user, expires_at: past },
])
const guestTokens = users.flatMap(({ name, email }) => [
  { token: `valid-${name}`, email, name, expires_at: null as string | null },
  { token: `expired-${name}`, email, name, expires_at: past },
])
const kindOf = (way: Way) => (sessionWays.includes(way) ? 'session' : 'token')
const backend = createSandboxIdentity({
  sessions: sessions.filter(({ user }) => sessionWays.some((way) => way === user.name)),
  guestTokens: guestTokens.filter(({ name }) => !sessionWays.some((way) => way === name)),
  now: Date.now,
})
let queries: string[] = []
backend.on('request', ({ method, url }) => {
  const isSession = method === 'POST' && url === '/auth/payments/validate'
  const isToken = method === 'GET' && url?.startsWith('/auth/token/validate?token=')
  queries.push(isSession ? 'session' : isToken ? 'token' : `${method} ${url}`)
})
const { send } = await callersHarness(t, { authUrl: await listen(t, backend) })

async function callerOf(request: CallerRequest) {
  queries = []
  const { status, body } = await send(request)
  const { user_id, guest_email, kind, error } = JSON.parse(body)
  return { status, id: user_id ?? guest_email ?? error?.code ?? kind, queries }
}

/** @returns a description of each response that differs from the model */
async function differences(all: readonly (readonly Presented[])[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const presented of all) {
    const model = expected(presented)
    const want = JSON.stringify({ status: model.status, id: model.id ?? 'unauthenticated', queries: model.queries })
    const got = JSON.stringify(await callerOf(requestWith(presented, '/anyone')))
    if (got !== want) wrong.push(`${named(presented)}: ${got} instead of ${want}`)
  }
  return wrong
}

t.test('each credential alone gives the expected caller in every state [5-states]', async (t) => {
  const all = combinations(1, states)
  t.equal(all.length, 6 * states.length)
  t.same(await differences(all), [])
})

t.test('of two credentials the first valid one counts [5-first-valid]', async (t) => {
  const all = combinations(2, states)
  t.equal(all.length, (2 * 4 + 6) * states.length ** 2)
  t.same(await differences(all), [])
})

t.test('of three to five credentials the first valid one counts [5-first-valid]', async (t) => {
  const some: readonly State[] = ['valid', 'invalid', 'repeated']
  const three = combinations(3, some)
  t.equal(three.length, (2 * 6 + 4) * some.length ** 3)
  t.same(await differences(three), [])
  const all = combinations(5, some)
  t.equal(all.length, 2 * some.length ** 5)
  t.same(await differences(all), [])
})

t.test('every credential is accepted or rejected with every HTTP method [5-methods]', async (t) => {
  for (const method of verbs)
    for (const way of ways)
      for (const path of ['/known', '/remembered', '/anyone']) {
        const valid = await callerOf(requestWith([{ way, state: 'valid' }], path, method))
        t.same(valid, {
          status: 200,
          id: kindOf(way) === 'session' ? idOf(way) : emailOf(way),
          queries: [kindOf(way)],
        })
        const expired = await callerOf(requestWith([{ way, state: 'expired' }], path, method))
        t.same(expired, { status: 401, id: 'unauthenticated', queries: [kindOf(way)] }, `${method} ${path} ${way}`)
      }
})

t.test('a request without a credential does not call the identity backend', async (t) => {
  for (const method of verbs) {
    t.same(await callerOf({ path: '/anyone', method }), { status: 200, id: 'anonymous', queries: [] })
    t.same(await callerOf({ path: '/known', method }), { status: 401, id: 'unauthenticated', queries: [] })
  }
})

t.test('an Authorization header with another scheme is an invalid credential [5-empty]', async (t) => {
  for (const value of [
    '',
    'Basic dTpw',
    'Digest x',
    'valid-Bearer',
    'Bearer',
    'Bearer valid-Bearer, Bearer valid-Bearer',
  ])
    t.same(
      await callerOf({ path: '/anyone', headers: ['Authorization', value] }),
      { status: 401, id: 'unauthenticated', queries: [] },
      value,
    )
  const last = requestWith([{ way: 'token', state: 'valid' }], '/anyone')
  t.match(await callerOf({ ...last, headers: ['Authorization', 'Basic dTpw'] }), { status: 200, id: emailOf('token') })
})

t.test('a revoked credential is rejected at once, and accepted at once when restored [1-no-accounts]', async (t) => {
  for (const way of ['X-Session-ID', 'X-Guest-Token'] as const) {
    const record = [...sessions, ...guestTokens].find((each) =>
      'session_id' in each
        ? each.session_id === `valid-${way}` && kindOf(way) === 'session'
        : each.token === `valid-${way}`,
    )
    if (record === undefined) throw new Error('no such credential at the backend')
    const request = requestWith([{ way, state: 'valid' }], '/known')
    for (const expires_at of [null, past, null, past, null]) {
      record.expires_at = expires_at
      t.match(await callerOf(request), { status: expires_at === null ? 200 : 401, queries: [kindOf(way)] })
    }
  }
})
