import { paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import t from 'tap'
import { type Caller, interleaved, newGuest, newUser, savedMethodHarness } from '../testing/savedMethodHarness.ts'
import { crashAfter, crashes, seededRandom } from '../testing/workflowHarness.ts'

const { workflow, fake, idOf, newToken, typesOf, save, change, remove, stateOf, defaultOf } =
  await savedMethodHarness(t)

const streamOf = (token: string) => paymentMethodStream(idOf(token))

t.test("a user's removed method cannot be saved by another user or guest, even with the same e-mail", async (t) => {
  const email = 'ada@example.com'
  const owner = newUser(email)
  const token = newToken()
  await save({ by: owner, token })
  await remove({ by: owner, token })
  t.notOk(fake.vault.customers.has(token), 'detached at the provider')
  fake.calls.length = 0
  for (const by of [newUser(email), newGuest(email), newGuest()])
    await t.rejects(save({ by, token }, { is_default: true }), {
      code: 'reference_not_found',
      details: { field: 'payment_method_token' },
    })
  t.same(fake.calls, [])
  t.same(await typesOf(streamOf(token)), ['PaymentMethodAdded', 'PaymentMethodRemoved'])
  t.match(await save({ by: owner, token }), { kind: 'saved', created: true }, 'saved by its owner')
})

t.test('a method that another user saves and removes during the provider call is reference_not_found', async (t) => {
  const token = newToken()
  const [owner, other] = [newUser(), newUser()]
  const on = interleaved(workflow, streamOf(token), async () => {
    await save({ by: owner, token })
    await remove({ by: owner, token })
  })
  await t.rejects(save({ by: other, token, on }), { code: 'reference_not_found' })
  t.match(await stateOf(token), { status: 'removed', user_id: owner.user_id })
})

t.test("a guest's removed method can be saved by anybody", async (t) => {
  for (const by of [newUser(), newGuest()]) {
    const guest = newGuest()
    const token = newToken()
    await save({ by: guest, token })
    await t.rejects(save({ by, token }), { code: 'reference_not_found' }, 'before it is removed')
    await remove({ by: guest, token })
    t.match(await save({ by, token }), { kind: 'saved', created: true })
    await t.rejects(change({ by: guest, token }, { alias: 'Mine' }), { code: 'not_found' })
    await t.rejects(remove({ by: guest, token }), { code: 'not_found' })
    await t.rejects(save({ by: guest, token }), { code: 'reference_not_found' })
  }
})

t.test('a request without a key finishes one that crashed at any append', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    let appends = 0
    for (let isOver = false; !isOver; appends++) {
      const token = newToken()
      const name = `${by.kind}, after ${appends} appends`
      isOver = !(await crashes(save({ by, token, on: crashAfter(appends, workflow) }, { is_default: true })))
      const { kind, ...saved } = await save({ by, token }, { is_default: true })
      t.match({ kind, ...saved }, { kind: 'saved', is_default: true, state: { status: 'saved' } }, name)
      t.equal(await defaultOf(by, [token]), token, name)
      t.same((await typesOf(streamOf(token))).filter((type) => type === 'PaymentMethodAdded').length, 1, name)
    }
    if (by.kind === 'session')
      t.same(await typesOf(providerCustomerStream('vault', by.user_id)), ['ProviderCustomerLinked'])
    t.ok(appends > 2, 'there are at least three crash points')
  }
})

t.test('creating a customer uses a new idempotency key an hour after a failure', async (t) => {
  const keys: string[] = []
  const vaultProvider = workflow.providers.get('vault')
  if (!vaultProvider?.methods) throw new Error('No vault')
  const methods = {
    ...vaultProvider.methods,
    async createCustomer({ idempotency_key }: { readonly idempotency_key: string }): Promise<never> {
      keys.push(idempotency_key)
      throw new ProviderError('unknown', 'http_500', 'The outcome is unknown')
    },
  }
  const providers = new Map([['vault', { ...vaultProvider, methods }]])
  const by = newUser()
  for (const time of ['2026-01-01T10:00:00Z', '2026-01-01T10:59:59Z', '2026-01-01T11:00:00Z']) {
    const on = { ...workflow, providers, now: () => new Date(time) }
    await t.rejects(save({ by, token: newToken(), on }), { code: 'provider_outcome_unknown' })
  }
  const [first, soon, later] = keys
  t.equal(soon, first, 'the same key within the hour')
  t.not(later, first)
})

t.test('two concurrent requests with different keys save one method', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    const token = newToken()
    const both = Promise.withResolvers<void>()
    let waiting = 0
    fake.meanwhile = async (call) => {
      if (call === 'customer') return
      waiting++
      if (waiting === 2) both.resolve()
      await both.promise
    }
    const outcomes = await Promise.all(
      ['a', 'b'].map((request_fingerprint) => save({ by, token }, { request_fingerprint, is_default: true })),
    )
    t.same(outcomes.map((outcome) => outcome.kind === 'saved' && outcome.created).toSorted(), [false, true])
    t.same(await typesOf(streamOf(token)), ['PaymentMethodAdded'])
    t.equal(await defaultOf(by, [token]), token)
  }
})

t.test('a method that is saved again as the default while it is removed is removed, and can be added', async (t) => {
  const by = newUser()
  const token = newToken()
  await save({ by, token })
  const on = interleaved(workflow, streamOf(token), () => remove({ by, token }))
  t.match(await save({ by, token, on }, { is_default: true }), { created: false, is_default: true })
  t.match(await stateOf(token), { status: 'removed' })
  t.equal(await defaultOf(by, [token]), undefined)
  t.match(await save({ by, token }), { created: true, is_default: false })
  t.equal(await defaultOf(by, [token]), undefined)
})

t.test('a removed default that is added again is not the default', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    const tokens = [newToken(), newToken()]
    const [older = '', newer = ''] = tokens
    for (const token of tokens) await save({ by, token }, { is_default: true })
    await remove({ by, token: newer })
    t.equal(await defaultOf(by, tokens), undefined)
    t.match(await save({ by, token: newer }), { created: true, is_default: false })
    t.equal(await defaultOf(by, tokens), undefined)
    t.match(await change({ by, token: older }, { is_default: true }), { is_default: true })
    t.equal(await defaultOf(by, tokens), older)
  }
})

t.test(
  'a removed default that another owner adds is the default of neither, unless the request asks for it',
  async (t) => {
    for (const is_default of [false, true]) {
      const [by, other] = [newGuest(), newUser()]
      const token = newToken()
      await save({ by, token }, { is_default: true })
      await remove({ by, token })
      t.match(await save({ by: other, token }, { is_default }), { created: true, is_default })
      t.equal(await defaultOf(other, [token]), is_default ? token : undefined)
      await remove({ by: other, token })
      const again = await save({ by: other, token })
      t.match(again, { created: true, is_default: false })
      t.equal(await defaultOf(other, [token]), undefined)
    }
  },
)

t.test('a retry finishes a request for a new default that crashed at any append', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    let appends = 0
    for (let isOver = false; !isOver; appends++) {
      const tokens = [newToken(), newToken()]
      const [older = '', newer = ''] = tokens
      await save({ by, token: older }, { is_default: true })
      await save({ by, token: newer })
      const on = crashAfter(appends, workflow)
      isOver = !(await crashes(change({ by, token: newer, on }, { is_default: true, alias: 'Chosen' })))
      const { state, is_default } = await change({ by, token: newer }, { is_default: true, alias: 'Chosen' })
      t.match({ ...state, is_default }, { is_default: true, alias: 'Chosen' }, `after ${appends} appends`)
      t.equal(await defaultOf(by, tokens), newer)
    }
    t.ok(appends > 2, 'there are at least three crash points')
  }
})

t.test('random requests and crashes leave the last requested default, or none', async (t) => {
  for (let seed = 1; seed <= 4; seed++) {
    const random = seededRandom(seed)
    const by: Caller = seed % 2 === 0 ? newUser() : newGuest()
    const tokens = Array.from({ length: 4 }, newToken)
    const isThere = new Set<string>()
    const story: string[] = []
    let shown: string | undefined
    for (let step = 0; step < 40; step++) {
      const token = tokens[random(tokens.length)] ?? ''
      const appends = random(3) === 0 ? random(3) : 99
      const on = crashAfter(appends, workflow)
      const left = shown === token ? undefined : shown
      const [what, then, act] = isThere.has(token)
        ? ((
            [
              ['made default', token, () => change({ by, token, on }, { is_default: true })],
              ['none any more', left, () => change({ by, token, on }, { is_default: false })],
              ['removed', left, () => remove({ by, token, on })],
              ['saved again as default', token, () => save({ by, token, on }, { is_default: true })],
            ] as const
          )[random(4)] ?? [])
        : ((
            [
              ['added', shown, () => save({ by, token, on })],
              ['added as default', token, () => save({ by, token, on }, { is_default: true })],
            ] as const
          )[random(2)] ?? [])
      if (!what || !act) throw new Error('no action was drawn')
      const died = await crashes(act())
      story.push(`${tokens.indexOf(token)} ${what}${died ? `, died after ${appends}` : ''}`)
      const now = await defaultOf(by, tokens)
      if (!(died && now === shown)) t.equal(now, then, `seed ${seed}: ${story.slice(-8).join('; ')}`)
      shown = now
      for (const each of tokens) {
        const state = await stateOf(each).catch(() => undefined)
        if (state?.status === 'saved') isThere.add(each)
        else isThere.delete(each)
      }
    }
  }
})
