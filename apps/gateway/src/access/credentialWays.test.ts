// The ways to present a credential, their order, and what an expired one is still good for.
import t from 'tap'
import { startAccessSystem } from './accessSystem.ts'
import { createClient } from './client.ts'
import { assertNoLeaks } from './leaks.ts'
import { lives } from './ownThings.ts'
import { type Caller, remembered } from './people.ts'
import { plant } from './world.ts'

const session = 'cred.session.ada'
const token = 'cred.token.g1'
const valid = { ada: session, g1: token }

/** The six ways of the interface, in the order in which they count. */
const ways: readonly { readonly name: string; readonly who: 'ada' | 'g1'; at(credential: string): Partial<Caller> }[] =
  [
    { name: 'Bearer', who: 'ada', at: (given) => ({ headers: { authorization: `Bearer ${given}` } }) },
    { name: 'Token', who: 'g1', at: (given) => ({ headers: { authorization: `Token ${given}` } }) },
    { name: 'X-Session-ID', who: 'ada', at: (given) => ({ headers: { 'x-session-id': given } }) },
    { name: 'X-Guest-Token', who: 'g1', at: (given) => ({ headers: { 'x-guest-token': given } }) },
    { name: 'session_id', who: 'ada', at: (given) => ({ query: `session_id=${given}` }) },
    { name: 'token', who: 'g1', at: (given) => ({ query: `token=${given}` }) },
  ]

function presenting(name: string, who: 'ada' | 'g1' | null, ...parts: Partial<Caller>[]): Caller {
  const standing = who === null ? 'unknown' : who === 'ada' ? 'session' : 'guest'
  const headers = Object.assign({}, ...parts.map((part) => part.headers))
  const query = parts.flatMap((part) => part.query ?? []).join('&')
  return { name, standing, owner: who, headers, query }
}

t.test('how callers present themselves', async (t) => {
  const system = await startAccessSystem(t)
  const client = createClient(t, system.baseUrl)
  const { ask } = client
  const world = await plant(system, client)

  t.test('every way to present a credential does for every method', async (t) => {
    for (const { name, who, at } of ways)
      for (const kind of ['method', 'address'] as const)
        await lives(client, t, kind, presenting(name, who, at(valid[who])))
  })

  t.test('of several credentials the first valid one counts, in the order of the interface', async (t) => {
    const listedFor = async (caller: Caller) => {
      const { status, json } = await ask(caller, 'GET', '/addresses')
      return status === 200 ? (json.user_context as { user_type: string }).user_type : status
    }
    const kindOf = { ada: 'user', g1: 'guest' }
    for (const [index, first] of ways.entries())
      for (const second of ways.slice(index + 1)) {
        if (first.name === 'Bearer' && second.name === 'Token') continue
        const names = `${first.name}, ${second.name}`
        const both = presenting(names, first.who, first.at(valid[first.who]), second.at(valid[second.who]))
        t.equal(await listedFor(both), kindOf[first.who], `${names}: both valid`)
        const later = presenting(names, second.who, first.at('cred.no'), second.at(valid[second.who]))
        t.equal(await listedFor(later), kindOf[second.who], `${names}: the second valid`)
        const former = presenting(names, first.who, first.at(valid[first.who]), second.at('cred.no'))
        t.equal(await listedFor(former), kindOf[first.who], `${names}: the first valid`)
        const neither = presenting(names, null, first.at('cred.no'), second.at('cred.no'))
        t.equal(await listedFor(neither), 401, `${names}: neither valid`)
      }
  })

  t.test('a remembered token speaks only when no other credential does', async (t) => {
    const { id: own = '' } = world.things.address.find(({ owner }) => owner === 'g1') ?? {}
    const put = async (caller: Caller) =>
      (await ask(caller, 'PUT', `/addresses/${own}`, { body: { alias: 'canary.g1.address.alias' } })).status
    const past = { 'x-guest-token': 'cred.token.remembered' }
    t.equal(
      await put({ ...remembered, query: 'session_id=cred.session.ada', owner: 'ada' }),
      404,
      'a later session is ada',
    )
    t.equal(await put({ ...remembered, query: 'token=cred.token.g2', owner: 'g2' }), 404, 'a later token is g2')
    t.equal(await put({ ...remembered, query: 'session_id=cred.no' }), 200, 'none of the others is valid')
    t.equal(await put({ ...remembered, headers: {}, query: 'token=cred.token.remembered' }), 200, 'in the query')
    t.equal(await put({ ...remembered, headers: { authorization: 'Token cred.token.remembered' } }), 200, 'as Token')
    t.equal(await put({ ...remembered, headers: { authorization: 'Bearer cred.token.remembered' }, owner: null }), 401)
    t.equal(await put({ ...remembered, headers: { 'x-session-id': 'cred.token.remembered' }, owner: null }), 401)
    system.identity.breakWith('drop')
    t.equal(await put({ ...remembered, headers: past, owner: null }), 503, 'while nobody can tell whether it is valid')
    system.identity.breakWith(undefined)
  })

  t.test('nothing came to where it must not be', (t) => assertNoLeaks(t, system, client, world))
})
