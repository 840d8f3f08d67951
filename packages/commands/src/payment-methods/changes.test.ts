import { paymentMethodStream } from '@paylog/event-store/streamName'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import t from 'tap'
import { adaId } from '../testing/commandApiHarness.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'
import { paymentMethodFixture } from '../testing/paymentMethodFixture.ts'

const sandbox = createSandbox({ webhookSecrets: ['secret'] })
if (!sandbox.methods) throw new Error('the sandbox has no methods')
const vault = sandbox.methods
const detached: string[] = []
const provider = {
  ...sandbox,
  methods: {
    ...vault,
    async detachMethod(method: Parameters<typeof vault.detachMethod>[0]) {
      detached.push(method.provider_method_id)
      await vault.detachMethod(method)
    },
  },
}
const { store, change, remove, providers, recordsNothing, typesOf, stateOf, eventsOf } = await methodsHarness(t, [
  provider,
])
const stored = paymentMethodFixture(store)
const methodOfAda = () => stored.save({ user_id: adaId, guest_email: null }, 'sandbox')

t.beforeEach(() => {
  detached.length = 0
  providers.set('sandbox', provider)
})

t.test('a method alias can be changed, cleared and kept [2.3-alias]', async (t) => {
  const { id } = await methodOfAda()
  const changed = await change(id, { alias: 'Other' })
  t.equal(changed.status, 200)
  t.match(changed.data, { id, alias: 'Other', is_default: false, card_brand: 'visa', provider_id: 'sandbox' })
  t.equal(changed.etag, '"1"')
  t.equal(changed.headers['x-event-position'], String((await eventsOf(id)).at(-1)?.position.commit))
  t.ok((changed.data?.updated_at ?? '') >= (changed.data?.created_at ?? ''))
  t.match(await change(id, { is_default: true }), { status: 200, data: { alias: 'Other', is_default: true } })
  t.match((await change(id, { alias: null })).data, { alias: null, is_default: true })
  t.match((await change(id.toUpperCase(), { alias: 'Big' })).data, { id, alias: 'Big' }, 'the id is case-insensitive')
})

t.test('a method update without a difference records nothing', async (t) => {
  const { id } = await methodOfAda()
  const first = await change(id, { alias: 'Same', is_default: true })
  const again = await recordsNothing(t, () => change(id, { alias: 'Same', is_default: true }))
  t.same([again.status, again.etag], [200, '"1"'])
  t.equal(again.headers['x-event-position'], first.headers['x-event-position'], 'the position of the choice')
})

t.test('a method update of unknown fields, or of none that can change, is 400 [4.12-put-empty]', async (t) => {
  const { id } = await methodOfAda()
  for (const body of [
    {},
    { type: 'card' },
    { guest_email: 'x@example.com', customer_id: 'x', card_brand: 'amex' },
    { alias: 'New', user_id: 'x' },
    { alias: 'New', isDefault: true },
    [],
    'text',
    undefined,
  ]) {
    const rejected = await recordsNothing(t, () => change(id, body))
    t.same([rejected.status, rejected.code], [400, 'invalid_request'], JSON.stringify(body))
  }
})

t.test('a method update ignores what a client sends back with the method, or made it from', async (t) => {
  const { id } = await methodOfAda()
  const { data: before } = await change(id, { alias: 'Before' })
  const sentBack = { ...before, alias: 'Kept', card_brand: 'amex', provider_id: 5, payment_method_token: 'pm_1' }
  const { status, data } = await change(id, sentBack)
  t.equal(status, 200)
  t.same(data, { ...before, alias: 'Kept', updated_at: data?.updated_at })
})

t.test('a method update with a value of another type is 400', async (t) => {
  const { id } = await methodOfAda()
  for (const body of [{ alias: 'x'.repeat(256) }, { is_default: null }, { alias: 'Fine', is_default: 'yes' }])
    t.same((await recordsNothing(t, () => change(id, body))).code, 'invalid_request', JSON.stringify(body))
})

t.test('a deleted method is detached, removed and not found afterwards [4-delete-method]', async (t) => {
  const { id, provider_method_id } = await methodOfAda()
  const removed = await remove(id.toUpperCase())
  t.equal(removed.status, 200)
  t.same(removed.json, { success: true, data: { id, deleted: true } })
  const events = await eventsOf(id)
  t.match(events.at(-1), {
    type: 'PaymentMethodRemoved',
    data: { by: 'owner' },
    metadata: { actor: `session:${adaId}` },
  })
  t.equal(removed.headers['x-event-position'], String(events.at(-1)?.position.commit))
  t.same(detached, [provider_method_id])
  t.equal((await remove(id)).status, 404)
  t.equal((await change(id, { alias: 'x' })).status, 404)
})

t.test('a method is not removed while its provider is disabled or cannot detach it', async (t) => {
  const { id } = await methodOfAda()
  for (const present of [undefined, { ...provider, methods: null }]) {
    providers.clear()
    if (present) providers.set('sandbox', present)
    t.match(await recordsNothing(t, () => remove(id)), { status: 422, code: 'provider_not_enabled' })
  }
  t.match(await stateOf(id), { status: 'saved' })
})

t.test('a method that is removed by several requests at once is removed once', async (t) => {
  const { id } = await methodOfAda()
  const responses = await Promise.all(Array.from({ length: 8 }, () => remove(id)))
  t.ok(responses.every(({ status }) => status === 200 || status === 404))
  t.ok(responses.some(({ status }) => status === 200))
  t.same(await typesOf(paymentMethodStream(id)), ['PaymentMethodAdded', 'PaymentMethodRemoved'])
})
