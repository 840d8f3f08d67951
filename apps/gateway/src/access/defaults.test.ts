// One default per owner and list, whatever is asked at the same time, seen from outside while it happens.
import t, { type Test } from 'tap'
import { startAccessSystem } from './accessSystem.ts'
import { type Answer, after, type Client, createClient, dataOf, listOf } from './client.ts'
import { ada, type Caller, canary, g1, g1Second, g1Upper } from './people.ts'
import { addressBody, methodBody } from './world.ts'

const idOf = (answer: Answer) => String(dataOf(answer).id)

/** Looks at a list all the time, until told to stop. @returns how often, and every answer that showed more than one default */
function watch(
  { ask }: Client,
  caller: Caller,
  path: string,
  list: (item: Readonly<Record<string, unknown>>) => unknown,
) {
  let stopped = false
  const wrong: string[] = []
  let looks = 0
  const watching = (async () => {
    while (!stopped) {
      const answer = await ask(caller, 'GET', path)
      looks++
      const defaults = listOf(answer).filter((item) => item.is_default === true)
      if (new Set(defaults.map(list)).size < defaults.length) wrong.push(answer.text)
    }
  })()
  return async () => {
    stopped = true
    await watching
    return { looks, wrong }
  }
}

const rounds = 4
const putsAtOnce = 16

/** Rounds of PUTs at the same time, each of which makes one of the items the default, while the list is looked at. */
async function contest(t: Test, client: Client, callers: readonly Caller[], path: string, ids: readonly string[]) {
  const { ask } = client
  const [looker = ada] = callers
  const stop = watch(client, looker, `${path}?limit=50`, (item) => item.address_type ?? 'method')
  const puts: Answer[] = []
  for (let round = 0; round < rounds; round++) {
    const atOnce = Array.from({ length: putsAtOnce }, (_, n) => {
      const caller = callers[n % callers.length] ?? looker
      return ask(caller, 'PUT', `${path}/${ids[(n + round) % ids.length]}`, { body: { is_default: true } })
    })
    puts.push(...(await Promise.all(atOnce)))
    const settled = await ask(looker, 'GET', `${path}?limit=50`, after(...puts))
    t.notOk(settled.headers['x-read-stale'], 'it can be read')
    const lists = Map.groupBy(listOf(settled), ({ address_type }) => address_type)
    for (const [type, items] of lists)
      t.equal(items.filter((item) => item.is_default === true).length, 1, `${path}: ${type}: round ${round}`)
    const singles = await Promise.all(ids.map((id) => ask(looker, 'GET', `${path}/${id}`)))
    t.same(
      singles.map((one) => [dataOf(one).id, dataOf(one).is_default]).sort(),
      listOf(settled)
        .map(({ id, is_default }) => [id, is_default])
        .sort(),
      'each by itself says what the list says',
    )
  }
  const { looks, wrong } = await stop()
  for (const { status, json, text } of puts.filter(({ status }) => status !== 200))
    t.match({ status, json }, { status: 409, json: { error: { code: 'concurrent_modification' } } }, text)
  t.comment(`${path}: ${looks} looks, ${puts.filter(({ status }) => status === 200).length} of ${puts.length} PUTs`)
  t.same(wrong, [], 'two defaults are never seen')
  t.ok(looks > rounds, 'it was looked at')
}

t.test('one default', async (t) => {
  const system = await startAccessSystem(t)
  const client = createClient(t, system.baseUrl, putsAtOnce + 2)
  const { ask } = client
  const add = async (caller: Caller, path: string, bodies: readonly object[]) => {
    const ids: string[] = []
    for (const body of bodies) ids.push(idOf(await ask(caller, 'POST', path, { body })))
    return ids
  }
  const cards = ['pm_card_visa', 'pm_card_mastercard', 'pm_card_amex']

  t.test('of the methods of a user', async (t) => {
    const ids = await add(
      ada,
      '/payment-methods',
      cards.map((card) => methodBody('ada', card)),
    )
    const listed = listOf(await ask(ada, 'GET', '/payment-methods'))
    t.same(
      listed.map(({ is_default }) => is_default),
      [false, false, false],
      'the first is not made default by itself',
    )
    await contest(t, client, [ada], '/payment-methods', ids)
  })

  t.test('of the methods of a guest, who uses several tokens', async (t) => {
    const ids = await add(
      g1,
      '/payment-methods',
      cards.map((card) => methodBody('g1', card)),
    )
    await contest(t, client, [g1, g1Second, g1Upper], '/payment-methods', ids)
  })

  t.test('of the addresses of each type', async (t) => {
    const bodies = Array.from({ length: 8 }, (_, n) =>
      addressBody('ada', { address_type: n % 2 === 0 ? 'billing' : 'shipping', is_default: true }),
    )
    await contest(t, client, [ada], '/addresses', await add(ada, '/addresses', bodies))
  })

  t.test('of the addresses that are made at the same time, each as the default', async (t) => {
    const stop = watch(client, g1, '/addresses?limit=50', (item) => item.address_type)
    const made = await Promise.all(
      Array.from({ length: putsAtOnce }, (_, n) => {
        const caller = [g1, g1Second, g1Upper][n % 3] ?? g1
        return ask(caller, 'POST', '/addresses', {
          body: addressBody('g1', { is_default: true, alias: canary('g1', `n${n}`) }),
        })
      }),
    )
    t.same(new Set(made.map(({ status }) => status)), new Set([201]))
    const listed = listOf(await ask(g1, 'GET', '/addresses?limit=50', after(...made)))
    t.equal(listed.length, putsAtOnce)
    t.equal(listed.filter(({ is_default }) => is_default).length, 1)
    t.same((await stop()).wrong, [])
  })
})
