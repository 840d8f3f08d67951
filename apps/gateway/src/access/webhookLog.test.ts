// The log of webhooks shows everybody the own entries and nobody another's, whatever kind of endpoint was told.
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { startAccessSystem } from './accessSystem.ts'
import { type Answer, createClient, dataOf } from './client.ts'
import { assertNoLeaks } from './leaks.ts'
import { has, refusalAtTheDoor, rows } from './model.ts'
import { ada, admin, callers, grace } from './people.ts'
import { plantWebhooks } from './webhooks.ts'
import { plant } from './world.ts'

type Entry = { readonly id: string; readonly status: string; readonly response: { readonly node: string } }

const entriesOf = (answer: Answer): readonly Entry[] => JSON.parse(answer.text)

t.test('who sees what became of webhooks', async (t) => {
  const system = await startAccessSystem(t)
  const client = createClient(t, system.baseUrl)
  const { ask } = client
  const world = await plant(system, client)
  const log = await plantWebhooks(system, client, world)
  const row = rows['GET /webhooks/logs'] ?? { access: 'public' }
  const path = '/webhooks/logs?limit=1000'

  t.test('there is something to see of every owner, node and mode', async (t) => {
    t.same(
      log.filter(({ owner }) => owner === null),
      [],
      'it is known whose each is',
    )
    const entries = entriesOf(await ask(admin, 'GET', path))
    const nodes = new Set(entries.map(({ response }) => response.node))
    t.same([...nodes].sort(), ['1', '2', '3', '4', '5', 'legacy-1'])
    for (const [node, { received }] of Object.entries(system.endpoints)) t.ok(received.length > 8, node)
    for (const { status, response } of entries) t.equal(status, response.node === '4' ? 'failed' : 'success')
  })

  t.test('a list has the own entries and nothing else, whatever is asked for', async (t) => {
    for (const caller of callers) {
      const door = refusalAtTheDoor(row, caller)
      const own = log.filter((entry) => has(row, caller, entry)).map(({ id }) => id)
      for (const query of ['', '&user_id=00000000-0000-4000-8000-000000000001', '&page=1&search=canary', '&offset=0']) {
        const answer = await ask(caller, 'GET', `${path}${query}`)
        t.equal(answer.status, door ?? 200, `${caller.name}: ${query}`)
        if (!door) t.same(new Set(entriesOf(answer).map(({ id }) => id)), new Set(own), `${caller.name}: ${query}`)
      }
      for (const query of ['status=success', 'status=failed', 'provider=sandbox', 'event_type=payment.succeeded'])
        if (!door) {
          const found = entriesOf(await ask(caller, 'GET', `${path}&${query}`))
          t.ok(found.length > 0 && found.every(({ id }) => own.includes(id)), `${caller.name}: ${query}`)
        }
    }
  })

  t.test('each entry is read by whom the list shows it, as the list shows it', async (t) => {
    for (const caller of [ada, grace, admin]) {
      const listed = new Map(entriesOf(await ask(caller, 'GET', path)).map((entry) => [entry.id, entry]))
      for (const { id, name } of log) {
        const answer = await ask(caller, 'GET', `/webhooks/logs/${id}`)
        t.equal(answer.status, listed.has(id) ? 200 : 404, `${caller.name}: ${name}`)
        if (listed.has(id)) t.same(dataOf(answer), listed.get(id), `${caller.name}: ${name}`)
      }
    }
  })

  t.test('what an endpoint says about its own address is kept without the secret in it', async (t) => {
    const failed = entriesOf(await ask(ada, 'GET', `${path}&status=failed`))
    t.ok(failed.length > 0)
    for (const { response } of failed) t.match(response, { body: /^out of order: / })
  })

  t.test('nothing came to where it must not be', (t) => assertNoLeaks(t, system, client, world))

  t.test('an endpoint that is gone, and a worker that is killed, show nothing to others', async (t) => {
    await system.kill('worker')
    const asked = await ask(grace, 'POST', '/webhooks/test', { body: { event: 'payment.succeeded' } })
    t.equal(asked.status, 202)
    await system.start('worker')
    const before = new Set(log.map(({ id }) => id))
    const fresh = async () => entriesOf(await ask(grace, 'GET', path)).filter(({ id }) => !before.has(id))
    await waitFor(async () => (await fresh()).length >= 4, { what: 'the test', timeoutMs: 20_000 })
    const ids = (await fresh()).map(({ id }) => id)
    for (const id of ids) t.equal((await ask(ada, 'GET', `/webhooks/logs/${id}`)).status, 404)
    t.notOk(entriesOf(await ask(ada, 'GET', path)).some(({ id }) => ids.includes(id)))
  })
})
