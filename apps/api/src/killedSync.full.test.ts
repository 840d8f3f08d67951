import { createEventStore } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { type FakeCatalogProvider, startFakePaypalCatalog, startFakeStripeCatalog } from '@paylog/testing/fakeProviders'
import { freePort, startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const script = new URL('../../command-api/src/main.ts', import.meta.url)
const membership = {
  name: 'Membership',
  product_type: 'subscription',
  is_recurring: true,
  billing_interval: 'month',
  currency: 'EUR',
  total_cents: 900,
}
const count = 6

const [log, identity, stripe, paypal, port] = await Promise.all([
  startEventStore(t),
  startFakeIdentity(t),
  startFakeStripeCatalog(t),
  startFakePaypalCatalog(t),
  freePort(),
])
const store = createEventStore({ connectionString: log.connectionString, keys: log.keys })
t.teardown(() => store.close())
const env = {
  DATABASE_URL: log.databaseUrl,
  EVENTSTORE_URL: log.connectionString,
  AUTH_URL: identity.authUrl,
  LOG_LEVEL: 'warn',
  PORT: String(port),
  ...stripe.env,
  ...paypal.env,
}

type Report = { readonly summary: object; readonly results: readonly { readonly status: string }[] }

async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/admin${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-id': 'demo-admin-session' },
    body: JSON.stringify(body),
  })
  const result: unknown = await response.json()
  if (!response.ok) throw new Error(JSON.stringify(result))
  return (result as { readonly data: unknown }).data
}
const start = () => startProcess(t, { script, env })
/** The process since the last kill. */
let running = await start()
const sync = async (fake: FakeCatalogProvider, product_ids: readonly string[]) =>
  (await post('/sync/products', { product_ids, provider_id: fake.id })) as Report

/** The process is killed after this many calls. The calls under way meet the fault. */
const moments = [
  { name: 'at its first call', calls: 1, fault: { kind: 'slow', ms: 200 } },
  { name: 'half way, while the provider carries out calls', calls: 14, fault: { kind: 'slow', ms: 200 } },
  { name: 'half way, after calls whose responses are lost', calls: 10, fault: { kind: 'hang', commits: true } },
] as const

for (const fake of [stripe, paypal])
  for (const { name, calls, fault } of moments)
    t.test(`a ${fake.id} sync killed ${name} and repeated creates each product once with one price`, async (t) => {
      const ids = await Promise.all(
        Array.from(
          { length: count },
          async () => ((await post('/products', membership)) as { readonly id: string }).id,
        ),
      )
      const callsBefore = fake.calls()
      // The first calls respond, because some calls would otherwise hang for ever.
      if (fault.kind === 'hang') fake.faults.next(...Array(7).fill(undefined))
      fake.faults.always(fault)
      const request = sync(fake, ids).then(
        () => 'responded',
        () => 'cut off',
      )
      await waitFor(() => fake.calls() >= callsBefore + calls, { what: 'the calls before the kill', timeoutMs: 20_000 })
      await running.kill('SIGKILL')
      t.equal(await request, 'cut off')
      fake.faults.always(undefined)

      running = await start()
      const repeated = await sync(fake, ids)
      t.match(repeated, { total: count, failed: 0 })
      for (const id of ids) {
        t.equal(fake.products().filter((each) => each === id).length, 1, 'one product')
        t.same(fake.prices(id, 'active'), [900], 'one active price')
        const types = (await store.readStream(productStream(id))).map(({ type }) => type)
        t.equal(types.at(-1), 'ProductSynced')
      }
      const calledBefore = fake.calls()
      const third = await sync(fake, ids)
      t.same(third.summary, { created: 0, updated: 0, skipped: count, failed: 0 })
      t.equal(fake.calls(), calledBefore, 'a third sync makes no provider call')
    })
