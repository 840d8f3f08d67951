import { ProviderError } from '@paylog/providers/provider'
import t, { type Test } from 'tap'
import { applyStoredNotification } from '../notifications/notifications.ts'
import { visa } from '../testing/fakeVault.ts'
import {
  guest,
  inboxOf,
  methodNotification,
  methodNotificationHarness,
  type SentNotification,
  user,
} from '../testing/methodNotificationHarness.ts'
import { crashAfter } from '../testing/workflowHarness.ts'

const { fake, provider, unqueryable, workflow, store, keys, typesOf, ...methods } = await methodNotificationHarness(t)
const { add, save, remove, rename, historyOf, stateOf, receive } = methods

const renewed = { ...visa, last_four: '0005', expiry_year: '2034' }
const kinds = ['attached', 'updated', 'detached']
const appliedEvents = ['ProviderEventReceived', 'ProviderEventAppliedToMethod']
const unmatched = ['ProviderEventReceived', 'ProviderEventUnmatched']

async function receiveAndCheck(t: Test, sent: SentNotification, closed = appliedEvents): Promise<void> {
  t.match(await receive(sent), { postponed: undefined })
  t.same(await typesOf(inboxOf(sent)), closed)
}

t.test("a notification applies the provider's current state, not its own content", async (t) => {
  for (const what of kinds) {
    const method = await save()
    await receiveAndCheck(t, methodNotification(method, what))
    t.same(await historyOf(method), [], `${what}: unchanged`)
    t.same(fake.requests.at(-1), { provider_method_id: method.object, provider_customer_id: 'cus_user-1' })

    fake.retrieve = async () => renewed
    await receiveAndCheck(t, methodNotification(method, what))
    t.same(await historyOf(method), ['PaymentMethodRefreshed'], what)
    t.match(await stateOf(method), { ...renewed, status: 'saved', alias: 'Mine' })

    fake.retrieve = async () => null
    const gone = methodNotification(method, what, { at: new Date(Date.now() - 3_600_000) })
    await receiveAndCheck(t, gone)
    t.same(await historyOf(method), ['PaymentMethodRefreshed', 'PaymentMethodRemoved'], what)
    const removal = (await store.readStream(method.stream)).at(-1)
    const [received] = await store.readStream(inboxOf(gone))
    t.match(removal, { data: { by: 'provider' }, metadata: { causationId: received?.id } })
    fake.retrieve = async () => visa
  }
})

t.test("the inbox event names the method without the owner's data", async (t) => {
  const method = await save()
  const sent = methodNotification(method, 'updated')
  await receiveAndCheck(t, sent)
  const [, closed] = await store.readStream(inboxOf(sent))
  t.same(Object.keys(closed?.data ?? {}).toSorted(), [
    'generic_type',
    'object_id',
    'occurred_at',
    'payment_method_id',
    'provider_event_id',
    'provider_id',
    'provider_time',
    'provider_type',
  ])
  t.match(closed?.data, { payment_method_id: method.stored.id, object_id: method.object, provider_id: provider.id })
})

t.test("the body of a notification about a method is sealed with its owner's key", async (t) => {
  for (const [owner, name] of [
    [user, 'user:user-1'],
    [guest, 'guest:guest@example.com'],
  ] as const) {
    const method = await save(provider, owner)
    const sent = methodNotification(method, 'updated')
    await receive(sent)
    const [received] = await store.readStream(inboxOf(sent))
    const [key] = await keys.named([name])
    t.equal(received?.sealed.body?.[0], key?.id, name)
  }
})

t.test('repeated and reordered notifications give the same result', async (t) => {
  const method = await save()
  fake.retrieve = async () => renewed
  const sent = kinds.map((what) => methodNotification(method, what))
  for (const each of [...sent, ...sent.toReversed()]) await receiveAndCheck(t, each)
  t.same(await historyOf(method), ['PaymentMethodRefreshed'])
  t.equal(fake.requests.length, sent.length, 'the provider is not queried again')
})

t.test('a notification about an unknown method is unmatched without a provider call', async (t) => {
  const method = await save()
  const unknown = { ...method, object: 'pm_unknown' }
  for (const what of kinds) await receiveAndCheck(t, methodNotification(unknown, what), unmatched)
  await receiveAndCheck(t, methodNotification({ ...method, provider: unqueryable }, 'detached'), unmatched)
  await receiveAndCheck(t, methodNotification(method, 'detached', { object_id: null }), unmatched)
  await receiveAndCheck(t, methodNotification(method, 'inspected'), unmatched)
  t.same(fake.requests, [])
  t.same(await historyOf(method), [])
})

t.test('a notification about a removed method changes nothing and calls no provider', async (t) => {
  const method = await save()
  await remove(method)
  for (const what of kinds) await receiveAndCheck(t, methodNotification(method, what))
  t.same(await historyOf(method), ['PaymentMethodRemoved'])
  t.match((await store.readStream(method.stream)).at(-1)?.data, { by: 'owner' })
  t.same(fake.requests, [])
})

t.test('a detached notification removes a method whose provider cannot be queried; others are ignored', async (t) => {
  for (const [on, owner] of [[provider, guest] as const, [unqueryable, user] as const, [unqueryable, guest] as const]) {
    const method = await save(on, owner)
    for (const what of ['attached', 'updated']) await receiveAndCheck(t, methodNotification(method, what))
    t.same(await historyOf(method), [])
    await receiveAndCheck(t, methodNotification(method, 'detached'))
    t.same(await historyOf(method), ['PaymentMethodRemoved'])
    t.match((await store.readStream(method.stream)).at(-1)?.data, { by: 'provider' })
  }
  t.same(fake.requests, [])
})

t.test('a detached notification from before the method was added or added again is ignored', async (t) => {
  const added = new Date('2026-03-04T05:06:07.900Z')
  const at = (seconds: number) => new Date(added.getTime() + seconds * 1_000)
  const method = await save(unqueryable, user, added)
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(-1) }))
  t.same(await historyOf(method), [], 'older than the method')
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(0) }))
  t.same(await historyOf(method), ['PaymentMethodRemoved'], 'from the same second as the method')
  await add(method, user, at(5))
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(4) }))
  t.match(await stateOf(method), { status: 'saved' }, 'from before the method was added again')
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(6) }))
  t.match(await stateOf(method), { status: 'removed' })
})

t.test('a notification is stored while the provider is unreachable, and applied later', async (t) => {
  const method = await save()
  fake.retrieve = async () => {
    throw new ProviderError('unavailable', 'unreachable', 'The provider cannot be reached')
  }
  const sent = methodNotification(method, 'detached')
  t.match(await receive(sent), { postponed: { code: 'unreachable' } })
  t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived'])
  await t.rejects(applyStoredNotification(workflow, inboxOf(sent)), { code: 'unreachable' })
  t.same(await historyOf(method), [])
  fake.retrieve = async () => null
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  t.same(await typesOf(inboxOf(sent)), appliedEvents)
  t.same(await historyOf(method), ['PaymentMethodRemoved'])
  t.match((await store.readStream(method.stream)).at(-1)?.metadata, { actor: 'worker', correlationId: 'request' })
})

t.test('an outdated provider response does not undo a newer one', async (t) => {
  const method = await save()
  fake.retrieve = async () => {
    fake.retrieve = async () => renewed
    await receive(methodNotification(method, 'updated'))
    return { ...visa, last_four: '1111' }
  }
  await receiveAndCheck(t, methodNotification(method, 'updated'))
  t.match(await stateOf(method), renewed)
  t.same(await historyOf(method), ['PaymentMethodRefreshed'])
})

t.test('an outdated provider response does not remove a method that was added again meanwhile', async (t) => {
  const method = await save()
  fake.retrieve = async () => {
    await remove(method)
    await add(method, user)
    fake.retrieve = async () => visa
    return null
  }
  await receiveAndCheck(t, methodNotification(method, 'detached'))
  t.match(await stateOf(method), { status: 'saved' })
  t.equal(fake.requests.length, 2)
})

t.test('a notification is postponed after five concurrent changes by the owner, which are kept', async (t) => {
  const method = await save()
  fake.retrieve = async () => {
    await rename(method)
    return renewed
  }
  const sent = methodNotification(method, 'updated')
  t.match(await receive(sent), { postponed: { code: 'concurrent_modification' } })
  t.equal(fake.requests.length, 5)
  fake.retrieve = async () => renewed
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  const renames = Array(5).fill('PaymentMethodAliasChanged')
  t.same(await historyOf(method), [...renames, 'PaymentMethodRefreshed'])
})

t.test('a method notification is applied once after a crash at any append', async (t) => {
  for (const appends of [1, 2]) {
    const method = await save()
    fake.retrieve = async () => renewed
    const sent = methodNotification(method, 'updated')
    t.match(await receive(sent, crashAfter(appends, workflow)), { postponed: { message: /died/ } })
    t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived'], `${appends}`)
    await Promise.all([1, 2, 3].map(() => applyStoredNotification(workflow, inboxOf(sent))))
    t.same(await typesOf(inboxOf(sent)), appliedEvents)
    t.same(await historyOf(method), ['PaymentMethodRefreshed'])
  }
})
