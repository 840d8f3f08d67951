import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import t from 'tap'
import { admin } from '../testing/commandApiHarness.ts'
import { syncHarness } from '../testing/productsHarness.ts'

const sandbox = createSandbox({ webhookSecrets: ['secret'] })
const api = await syncHarness(t, { providers: [sandbox, { ...sandbox, id: 'other' }] })
const { sync, productOf, recordsNothing } = api
const id = await productOf()
const plain = { product_ids: [id], provider_id: 'sandbox' }

const malformed: readonly (readonly [string, unknown])[] = [
  ['no ids', { ...plain, product_ids: [] }],
  ['501 ids', { ...plain, product_ids: Array.from({ length: 501 }, (_, n) => `p${n}`) }],
  ['the same id 501 times', { ...plain, product_ids: Array(501).fill(id) }],
  ['a number for an id', { ...plain, product_ids: [1] }],
  ['an id of 256 characters', { ...plain, product_ids: ['x'.repeat(256)] }],
  ['an id with a NUL', { ...plain, product_ids: ['a\u0000'] }],
  ['an empty provider', { ...plain, provider_id: '' }],
  ['text for force', { ...plain, force: 'true' }],
  ['dryRun in another spelling', { ...plain, dry_run: true }],
  ['no provider_id and several providers', { product_ids: [id] }],
]
for (const [name, body] of malformed)
  t.test(`a sync request with ${name} is 400`, async (t) => {
    const { status, error } = await recordsNothing(t, () => sync(body))
    t.equal(status, 400)
    t.equal(error?.code, 'invalid_request')
  })

t.test('a sync to an unknown provider is rejected before products are loaded', async (t) => {
  for (const provider_id of ['stripe', 'SANDBOX', 'nobody', '__proto__']) {
    const { status, error } = await recordsNothing(t, () => sync({ product_ids: ['x'], provider_id }))
    t.equal(status, 422, provider_id)
    t.equal(error?.code, 'provider_not_enabled')
    t.same(error?.details, { enabled: ['sandbox', 'other'] })
  }
})

t.test('the report of 500 long product ids can be recorded', async (t) => {
  const product_ids = Array.from({ length: 500 }, (_, n) => `${n}`.padStart(255, 'é'))
  const headers = { ...admin, 'idempotency-key': 'long' }
  const first = await sync({ ...plain, product_ids }, headers)
  t.equal(first.status, 200, first.text.slice(0, 200))
  t.equal(first.data.failed, 500)
  const again = await sync({ ...plain, product_ids }, headers)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.same(again.data, first.data)
})
