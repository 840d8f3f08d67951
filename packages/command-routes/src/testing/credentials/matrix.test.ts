import { createSandboxIdentity } from '@paylog/identity/sandboxIdentity'
import { listen } from '@paylog/testing/fakeServer'
import t from 'tap'
import { type CallerRequest, callersHarness, type Verb, verbs } from '../callersHarness.ts'

// What follows is the table of the interface's section 5 and its first rule, and nothing of how it is built.

const ways = ['Bearer', 'Token', 'X-Session-ID', 'X-Guest-Token', 'session_id', 'token'] as const
type Way = (typeof ways)[number]
const sessionWays: readonly Way[] = ['Bearer', 'X-Session-ID', 'session_id']
/** The Authorization header is there once, with one of the two words. */
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
const people = ways.map((way) => ({ id: idOf(way), email: emailOf(way), name: way, userType: 'user' }))
const past = '2020-01-01T00:00:00Z'

function textOf({ way, state }: Presented): string {
  switch (state) {
    case 'empty':
      return ''
    case 'malformed':
      return 'two words'
    case 'repeated':
      return `valid-${way}`
    // Valid, but of the other kind.
    case 'crossed':
      return sessionWays.includes(way) ? 'valid-token' : 'valid-session_id'
    default:
      return `${state}-${way}`
  }
}

/** Everything in the reverse of the order in which it counts. */
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

type Expected = { readonly status: number; readonly who?: string; readonly asked: readonly string[] }

/** In the order of `ways`, which is that of the interface: the first valid one counts. */
function expected(presented: readonly Presented[]): Expected {
  const asked: string[] = []
  for (const { way, state } of presented) {
    if (state === 'empty' || state === 'malformed' || state === 'repeated') continue
    asked.push(sessionWays.includes(way) ? 'session' : 'token')
    if (state === 'valid') return { status: 200, who: sessionWays.includes(way) ? idOf(way) : emailOf(way), asked }
  }
  return { status: presented.length === 0 ? 200 : 401, asked }
}

/** One of each list. */
const product = (lists: readonly (readonly Presented[])[]): readonly (readonly Presented[])[] =>
  lists.reduce<readonly (readonly Presented[])[]>(
    (soFar, list) => soFar.flatMap((some) => list.map((each) => [...some, each])),
    [[]],
  )
/** Every choice of so many places, in their order. */
const choices = <Item>(items: readonly Item[], count: number): readonly (readonly Item[])[] =>
  count === 0 ? [[]] : items.flatMap((item, n) => choices(items.slice(n + 1), count - 1).map((rest) => [item, ...rest]))
const combinations = (count: number, among: readonly State[]) =>
  choices(places, count).flatMap((chosen) =>
    product(chosen.map((place) => place.flatMap((way) => among.map((state) => ({ way, state }))))),
  )
const named = (presented: readonly Presented[]) => presented.map(({ way, state }) => `${way} ${state}`).join(', ')

const sessions = people.flatMap((user) => [
  { session_id: `valid-${user.name}`, user, expires_at: null as string | null },
  { session_id: `expired-${user.name}`, user, expires_at: past },
])
const guestTokens = people.flatMap(({ name, email }) => [
  { token: `valid-${name}`, email, name, expires_at: null as string | null },
  { token: `expired-${name}`, email, name, expires_at: past },
])
const kindOf = (way: Way) => (sessionWays.includes(way) ? 'session' : 'token')
const backend = createSandboxIdentity({
  sessions: sessions.filter(({ user }) => sessionWays.some((way) => way === user.name)),
  guestTokens: guestTokens.filter(({ name }) => !sessionWays.some((way) => way === name)),
  now: Date.now,
})
let asked: string[] = []
backend.on('request', ({ method, url }) => {
  const isSession = method === 'POST' && url === '/auth/payments/validate'
  const isToken = method === 'GET' && url?.startsWith('/auth/token/validate?token=')
  asked.push(isSession ? 'session' : isToken ? 'token' : `${method} ${url}`)
})
const { send } = await callersHarness(t, { authUrl: await listen(t, backend) })

async function told(request: CallerRequest) {
  asked = []
  const { status, body } = await send(request)
  const { user_id, guest_email, kind, error } = JSON.parse(body)
  return { status, who: user_id ?? guest_email ?? error?.code ?? kind, asked }
}

/** @returns what was answered otherwise than the model says, as text */
async function differences(all: readonly (readonly Presented[])[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const presented of all) {
    const model = expected(presented)
    const want = JSON.stringify({ status: model.status, who: model.who ?? 'unauthenticated', asked: model.asked })
    const got = JSON.stringify(await told(requestWith(presented, '/anyone')))
    if (got !== want) wrong.push(`${named(presented)}: ${got} instead of ${want}`)
  }
  return wrong
}

t.test('each way by itself, in every state [5-states]', async (t) => {
  const all = combinations(1, states)
  t.equal(all.length, 6 * states.length)
  t.same(await differences(all), [])
})

t.test('two ways at once: the first valid one counts, whatever the other is [5-first-valid]', async (t) => {
  const all = combinations(2, states)
  t.equal(all.length, (2 * 4 + 6) * states.length ** 2)
  t.same(await differences(all), [])
})

t.test('three ways at once, and all five [5-first-valid]', async (t) => {
  const some: readonly State[] = ['valid', 'invalid', 'repeated']
  const three = combinations(3, some)
  t.equal(three.length, (2 * 6 + 4) * some.length ** 3)
  t.same(await differences(three), [])
  const all = combinations(5, some)
  t.equal(all.length, 2 * some.length ** 5)
  t.same(await differences(all), [])
})

t.test('every way works with every verb, and is refused with every verb [5-methods]', async (t) => {
  for (const method of verbs)
    for (const way of ways)
      for (const path of ['/known', '/remembered', '/anyone']) {
        const valid = await told(requestWith([{ way, state: 'valid' }], path, method))
        t.same(valid, { status: 200, who: kindOf(way) === 'session' ? idOf(way) : emailOf(way), asked: [kindOf(way)] })
        const expired = await told(requestWith([{ way, state: 'expired' }], path, method))
        t.same(expired, { status: 401, who: 'unauthenticated', asked: [kindOf(way)] }, `${method} ${path} ${way}`)
      }
})

t.test('nobody is asked about a caller without a credential', async (t) => {
  for (const method of verbs) {
    t.same(await told({ path: '/anyone', method }), { status: 200, who: 'anonymous', asked: [] })
    t.same(await told({ path: '/known', method }), { status: 401, who: 'unauthenticated', asked: [] })
  }
})

t.test('an Authorization header of another kind is a credential that is not valid [5-empty]', async (t) => {
  for (const value of [
    '',
    'Basic dTpw',
    'Digest x',
    'valid-Bearer',
    'Bearer',
    'Bearer valid-Bearer, Bearer valid-Bearer',
  ])
    t.same(
      await told({ path: '/anyone', headers: ['Authorization', value] }),
      { status: 401, who: 'unauthenticated', asked: [] },
      value,
    )
  const behind = requestWith([{ way: 'token', state: 'valid' }], '/anyone')
  t.match(await told({ ...behind, headers: ['Authorization', 'Basic dTpw'] }), { status: 200, who: emailOf('token') })
})

t.test(
  'nothing is remembered of an answer: what is revoked is refused at once, and let in again [1-no-accounts]',
  async (t) => {
    for (const way of ['X-Session-ID', 'X-Guest-Token'] as const) {
      const record = [...sessions, ...guestTokens].find((each) =>
        'session_id' in each
          ? each.session_id === `valid-${way}` && kindOf(way) === 'session'
          : each.token === `valid-${way}`,
      )
      if (record === undefined) throw new Error('The backend does not know it')
      const request = requestWith([{ way, state: 'valid' }], '/known')
      for (const expires_at of [null, past, null, past, null]) {
        record.expires_at = expires_at
        t.match(await told(request), { status: expires_at === null ? 200 : 401, asked: [kindOf(way)] })
      }
    }
  },
)
