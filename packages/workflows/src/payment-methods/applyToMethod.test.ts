import { ProviderError } from '@paylog/providers/provider'
import t, { type Test } from 'tap'
import { applyStoredNotification } from '../notifications.ts'
import {
  guest,
  inboxOf,
  methodNotification,
  methodNotificationHarness,
  type SentNotification,
  user,
  visa,
} from '../testing/methodNotificationHarness.ts'
import { crashAfter } from '../testing/workflowHarness.ts'

const { asking, provider, silent, workflow, store, typesOf, ...methods } = await methodNotificationHarness(t)
const { add, save, remove, rename, historyOf, stateOf, receive } = methods

t.beforeEach(() => {
  asking.requests.length = 0
  asking.answer = async () => visa
})

const renewed = { ...visa, last_four: '0005', expiry_year: '2034' }
const kinds = ['attached', 'updated', 'detached']
const appliedEvents = ['ProviderEventReceived', 'ProviderEventAppliedToMethod']
const unmatched = ['ProviderEventReceived', 'ProviderEventUnmatched']

async function receiveAndCheck(t: Test, told: SentNotification, closed = appliedEvents): Promise<void> {
  t.match(await receive(told), { postponed: undefined })
  t.same(await typesOf(inboxOf(told)), closed)
}

t.test('whatever a notification says, what the provider says now is taken over', async (t) => {
  for (const what of kinds) {
    const method = await save()
    await receiveAndCheck(t, methodNotification(method, what))
    t.same(await historyOf(method), [], `${what}: nothing is new`)
    t.same(asking.requests.at(-1), { provider_method_id: method.object, provider_customer_id: 'cus_1' })

    asking.answer = async () => renewed
    await receiveAndCheck(t, methodNotification(method, what))
    t.same(await historyOf(method), ['PaymentMethodRefreshed'], what)
    t.match(await stateOf(method), { ...renewed, status: 'saved', alias: 'Mine' })

    asking.answer = async () => null
    const gone = methodNotification(method, what, { at: new Date(Date.now() - 3_600_000) })
    await receiveAndCheck(t, gone)
    t.same(await historyOf(method), ['PaymentMethodRefreshed', 'PaymentMethodRemoved'], what)
    const removal = (await store.readStream(method.stream)).at(-1)
    t.match(removal, { data: { by: 'provider' }, metadata: { causationId: inboxOf(gone) } })
    asking.answer = async () => visa
  }
})

t.test('the inbox says which method it was, and nothing that its owner wrote', async (t) => {
  const method = await save()
  const told = methodNotification(method, 'updated')
  await receiveAndCheck(t, told)
  const [, closed] = await store.readStream(inboxOf(told))
  t.same(Object.keys(closed?.data ?? {}).toSorted(), [
    'generic_type',
    'object_id',
    'occurred_at',
    'payment_method_id',
    'provider_event_id',
    'provider_id',
    'provider_type',
  ])
  t.match(closed?.data, { payment_method_id: method.id, object_id: method.object, provider_id: provider.id })
})

t.test('notifications that come twice, or in any order, lead to the same', async (t) => {
  const method = await save()
  asking.answer = async () => renewed
  const told = kinds.map((what) => methodNotification(method, what))
  for (const each of [...told, ...told.toReversed()]) await receiveAndCheck(t, each)
  t.same(await historyOf(method), ['PaymentMethodRefreshed'])
  t.equal(asking.requests.length, told.length, 'what was settled is not asked about again')
})

t.test('what is not ours is nobody asked about', async (t) => {
  const method = await save()
  const stranger = { ...method, object: 'pm_of_others' }
  for (const what of kinds) await receiveAndCheck(t, methodNotification(stranger, what), unmatched)
  await receiveAndCheck(t, methodNotification({ ...method, provider: silent }, 'detached'), unmatched)
  await receiveAndCheck(t, methodNotification(method, 'detached', { object_id: null }), unmatched)
  await receiveAndCheck(t, methodNotification(method, 'inspected'), unmatched)
  t.same(asking.requests, [])
  t.same(await historyOf(method), [])
})

t.test('after the owner has removed it, a notification changes nothing and asks nobody', async (t) => {
  const method = await save()
  await remove(method)
  for (const what of kinds) await receiveAndCheck(t, methodNotification(method, what))
  t.same(await historyOf(method), ['PaymentMethodRemoved'])
  t.match((await store.readStream(method.stream)).at(-1)?.data, { by: 'owner' })
  t.same(asking.requests, [])
})

t.test('where nobody can be asked a method that was detached is removed, and no more is taken from it', async (t) => {
  for (const [on, owner] of [[provider, guest] as const, [silent, user] as const, [silent, guest] as const]) {
    const method = await save(on, owner)
    for (const what of ['attached', 'updated']) await receiveAndCheck(t, methodNotification(method, what))
    t.same(await historyOf(method), [])
    await receiveAndCheck(t, methodNotification(method, 'detached'))
    t.same(await historyOf(method), ['PaymentMethodRemoved'])
    t.match((await store.readStream(method.stream)).at(-1)?.data, { by: 'provider' })
  }
  t.same(asking.requests, [])
})

t.test('unless that was before it was added, or added again', async (t) => {
  const added = new Date('2026-03-04T05:06:07.900Z')
  const at = (seconds: number) => new Date(added.getTime() + seconds * 1_000)
  const method = await save(silent, user, added)
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(-1) }))
  t.same(await historyOf(method), [], 'it is older')
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(0) }))
  t.same(await historyOf(method), ['PaymentMethodRemoved'], 'it is of the same second, in which it came after')
  await add(method, user, at(5))
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(4) }))
  t.match(await stateOf(method), { status: 'saved' }, 'it is about the time before it was added again')
  await receiveAndCheck(t, methodNotification(method, 'detached', { at: at(6) }))
  t.match(await stateOf(method), { status: 'removed' })
})

t.test('while the provider does not answer the notification waits, and the sweep settles it', async (t) => {
  const method = await save()
  asking.answer = async () => {
    throw new ProviderError('unavailable', 'refused', 'The provider cannot be reached')
  }
  const told = methodNotification(method, 'detached')
  t.match(await receive(told), { postponed: { code: 'refused' } })
  t.same(await typesOf(inboxOf(told)), ['ProviderEventReceived'])
  await t.rejects(applyStoredNotification(workflow, inboxOf(told)), { code: 'refused' })
  t.same(await historyOf(method), [])
  asking.answer = async () => null
  t.equal(await applyStoredNotification(workflow, inboxOf(told)), true)
  t.same(await typesOf(inboxOf(told)), appliedEvents)
  t.same(await historyOf(method), ['PaymentMethodRemoved'])
  t.match((await store.readStream(method.stream)).at(-1)?.metadata, { actor: 'worker', correlationId: 'request' })
})

t.test('an answer that is overtaken by a newer one does not undo it', async (t) => {
  const method = await save()
  asking.answer = async () => {
    asking.answer = async () => renewed
    await receive(methodNotification(method, 'updated'))
    return { ...visa, last_four: '1111' }
  }
  await receiveAndCheck(t, methodNotification(method, 'updated'))
  t.match(await stateOf(method), renewed)
  t.same(await historyOf(method), ['PaymentMethodRefreshed'])
})

t.test('that a method was gone does not remove one that was added again meanwhile', async (t) => {
  const method = await save()
  asking.answer = async () => {
    await remove(method)
    await add(method, user)
    asking.answer = async () => visa
    return null
  }
  await receiveAndCheck(t, methodNotification(method, 'detached'))
  t.match(await stateOf(method), { status: 'saved' })
  t.equal(asking.requests.length, 2)
})

t.test('what its owner changes meanwhile is kept, however often; at last the notification waits', async (t) => {
  const method = await save()
  asking.answer = async () => {
    await rename(method)
    return renewed
  }
  const told = methodNotification(method, 'updated')
  t.match(await receive(told), { postponed: { code: 'concurrent_modification' } })
  t.equal(asking.requests.length, 5)
  asking.answer = async () => renewed
  t.equal(await applyStoredNotification(workflow, inboxOf(told)), true)
  const renames = Array(5).fill('PaymentMethodAliasChanged')
  t.same(await historyOf(method), [...renames, 'PaymentMethodRefreshed'])
})

t.test('wherever a process dies while it settles a notification, it counts once', async (t) => {
  for (const appends of [1, 2]) {
    const method = await save()
    asking.answer = async () => renewed
    const told = methodNotification(method, 'updated')
    t.match(await receive(told, crashAfter(appends, workflow)), { postponed: { message: /died/ } })
    t.same(await typesOf(inboxOf(told)), ['ProviderEventReceived'], `${appends}`)
    await Promise.all([1, 2, 3].map(() => applyStoredNotification(workflow, inboxOf(told))))
    t.same(await typesOf(inboxOf(told)), appliedEvents)
    t.same(await historyOf(method), ['PaymentMethodRefreshed'])
  }
})
