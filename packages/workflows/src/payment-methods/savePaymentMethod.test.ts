import { paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import t from 'tap'
import { interleaved, newGuest, newUser, savedMethodHarness } from '../testing/savedMethodHarness.ts'
import { crashAfter, crashes } from '../testing/workflowHarness.ts'

const { workflow, vault, idOf, newToken, typesOf, save, change, remove, stateOf, defaultsOf } =
  await savedMethodHarness(t)

t.beforeEach(() => {
  vault.scenery.meanwhile = async () => undefined
  vault.calls.length = 0
})

const streamOf = (token: string) => paymentMethodStream(idOf(token))

t.test("what was a user's and was removed is nobody else's, not even the guest's of the same e-mail", async (t) => {
  const email = 'ada@example.com'
  const owner = newUser(email)
  const token = newToken()
  await save({ by: owner, token })
  await remove({ by: owner, token })
  t.notOk(vault.customers.has(token), 'at the provider it is free')
  vault.calls.length = 0
  for (const by of [newUser(email), newGuest(email), newGuest()])
    await t.rejects(save({ by, token }, { is_default: true }), {
      code: 'reference_not_found',
      details: { field: 'payment_method_token' },
    })
  t.same(vault.calls, [], 'and the provider is not asked')
  t.same(await typesOf(streamOf(token)), ['PaymentMethodAdded', 'PaymentMethodRemoved'])
  t.match(await save({ by: owner, token }), { kind: 'saved', created: true }, 'but it is the user’s')
})

t.test("so it is when it turns out to be a user's after the provider was asked", async (t) => {
  const token = newToken()
  const [owner, other] = [newUser(), newUser()]
  const on = interleaved(workflow, streamOf(token), async () => {
    await save({ by: owner, token })
    await remove({ by: owner, token })
  })
  await t.rejects(save({ by: other, token, on }), { code: 'reference_not_found' })
  t.match(await stateOf(token), { status: 'removed', user_id: owner.user_id })
})

t.test("what was a guest's and was removed may be anybody's", async (t) => {
  for (const by of [newUser(), newGuest()]) {
    const guest = newGuest()
    const token = newToken()
    await save({ by: guest, token })
    await t.rejects(save({ by, token }), { code: 'reference_not_found' }, 'not before it is removed')
    await remove({ by: guest, token })
    t.match(await save({ by, token }), { kind: 'saved', created: true })
    await t.rejects(change({ by: guest, token }, { alias: 'Mine' }), { code: 'not_found' })
    await t.rejects(remove({ by: guest, token }), { code: 'not_found' })
    await t.rejects(save({ by: guest, token }), { code: 'reference_not_found' })
  }
})

t.test('without a key too, the next request finishes what a dead process began', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    let appends = 0
    for (let isOver = false; !isOver; appends++) {
      const token = newToken()
      const name = `${by.kind}, after ${appends} appends`
      isOver = !(await crashes(save({ by, token, on: crashAfter(appends, workflow) }, { is_default: true })))
      const { kind, ...saved } = await save({ by, token }, { is_default: true })
      t.match({ kind, ...saved }, { kind: 'saved', method: { status: 'saved', is_default: true } }, name)
      t.same(await defaultsOf(by, [token]), [token], name)
      t.same((await typesOf(streamOf(token))).filter((type) => type === 'PaymentMethodAdded').length, 1, name)
    }
    if (by.kind === 'session')
      t.same(await typesOf(providerCustomerStream('vault', by.user_id)), ['ProviderCustomerLinked'])
    t.ok(appends > 2, 'there are several steps')
  }
})

t.test('a customer that the provider failed to make is asked for anew after an hour', async (t) => {
  const keys: string[] = []
  const vaultProvider = workflow.providers.get('vault')
  if (!vaultProvider?.methods) throw new Error('No vault')
  const methods = {
    ...vaultProvider.methods,
    async createCustomer({ idempotency_key }: { readonly idempotency_key: string }): Promise<never> {
      keys.push(idempotency_key)
      throw new ProviderError('unknown', 'http_500', 'The provider did not say what it did')
    },
  }
  const providers = new Map([['vault', { ...vaultProvider, methods }]])
  const by = newUser()
  for (const time of ['2026-01-01T10:00:00Z', '2026-01-01T10:59:59Z', '2026-01-01T11:00:00Z']) {
    const on = { ...workflow, providers, now: () => new Date(time) }
    await t.rejects(save({ by, token: newToken(), on }), { code: 'provider_outcome_unknown' })
  }
  const [first, soon, later] = keys
  t.equal(soon, first, 'until then it is the same call')
  t.not(later, first)
})

t.test('saved twice at once under two keys it is one method, which both have', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    const token = newToken()
    const both = Promise.withResolvers<void>()
    let asked = 0
    vault.scenery.meanwhile = async (call) => {
      if (call === 'customer') return
      asked++
      if (asked === 2) both.resolve()
      await both.promise
    }
    const answers = await Promise.all(
      ['a', 'b'].map((request_fingerprint) => save({ by, token }, { request_fingerprint, is_default: true })),
    )
    t.same(answers.map((answer) => answer.kind === 'saved' && answer.created).toSorted(), [false, true])
    t.same(await typesOf(streamOf(token)), ['PaymentMethodAdded'])
    t.same(await defaultsOf(by, [token]), [token])
  }
})

t.test('removed while it is saved again as the default, it is not found missing but may be tried again', async (t) => {
  const by = newUser()
  const token = newToken()
  await save({ by, token })
  const on = interleaved(workflow, streamOf(token), () => remove({ by, token }))
  await t.rejects(save({ by, token, on }, { is_default: true }), { code: 'concurrent_modification' })
  t.match(await save({ by, token }, { is_default: true }), { created: true, method: { is_default: true } })
  t.same(await defaultsOf(by, [token]), [token])
})
