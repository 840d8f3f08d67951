// What the gateway's responses and errors mean. See `adapterContract.full.test.ts` for lost and throttled requests.
import { inspect } from 'node:util'
import t from 'tap'
import type { ProviderError } from '../provider.ts'
import { authorizeNetHarness, openHostedPage } from './testing/authorizeNetHarness.ts'

const unknown = { name: 'ProviderError', kind: 'unknown' }
const unavailable = { name: 'ProviderError', kind: 'unavailable' }

t.test('Authorize.Net: responses are read with and without a byte order mark', async (t) => {
  for (const byteOrderMark of [true, false]) {
    const { provider } = await authorizeNetHarness(t, { byteOrderMark })
    t.ok(await openHostedPage(provider))
  }
})

t.test('Authorize.Net: a response of an unexpected shape makes the outcome unknown', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 440 })
  // A 503 with `retry-after` is throttling.
  for (const status of [201, 408, 502, 503]) {
    fake.faults.always({ kind: 'status', status, commits: false })
    await t.rejects(openHostedPage(provider), { ...unknown, code: `http_${status}` })
  }
  fake.faults.always({ kind: 'status', status: 200, commits: false })
  await t.rejects(openHostedPage(provider), { ...unknown, code: 'unreadable_answer' }, 'a page of HTML')
})

t.test('Authorize.Net: an HTTP error before the gateway means that nothing was done', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const status of [301, 403, 404]) {
    fake.faults.next({ kind: 'status', status, commits: false })
    await t.rejects(openHostedPage(provider), unavailable, String(status))
  }
  fake.faults.next({ kind: 'status', status: 400, commits: false })
  await t.rejects(openHostedPage(provider), {
    name: 'ProviderError',
    kind: 'rejected',
  } satisfies Partial<ProviderError>)
})

t.test('Authorize.Net: each error code maps to its kind, and the gateway’s text is not passed on', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 440 })
  const codes = {
    unavailable: ['E00005', 'E00006', 'E00007', 'E00008', 'E00009', 'E00010', 'E00011', 'E00059', 'E00104', 'E00124'],
    rejected: ['E00003', 'E00004', 'E00013', 'E00014', 'E00015', 'E00099'],
    declined: ['E00027'],
  }
  for (const [kind, list] of Object.entries(codes))
    for (const code of list) {
      fake.failNext(code, { text: 'Text of the provider' })
      const error = await openHostedPage(provider).catch((thrown: unknown) => thrown)
      t.match(error, { name: 'ProviderError', kind, code })
      t.notMatch(error, { message: /Text/ })
    }
  fake.failNext('E00001')
  await t.rejects(openHostedPage(provider), { ...unknown, code: 'E00001' }, 'no time for a retry')
})

t.test('Authorize.Net: a currency that the account does not accept is a currency error', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const code of ['E00013', 'E00027']) {
    fake.failNext(code, {
      text: 'The supplied currency code is either invalid, not supported or not allowed for this merchant.',
    })
    await t.rejects(openHostedPage(provider), { kind: 'currency', code })
  }
})

t.test('Authorize.Net: an error response is not visible to loggers', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.failNext('E00015', { text: 'of jane@example.com' })
  const error = await openHostedPage(provider).catch((thrown: object) => thrown)
  // The members that an error serialiser visits, inherited ones included.
  const members: string[] = []
  for (const name in error) members.push(name)
  t.same(members.toSorted(), ['code', 'field', 'kind', 'name', 'rateLimit', 'status'])
  for (const written of [JSON.stringify(error), JSON.stringify(Object.entries(error)), inspect(error)]) {
    t.match(written, 'E00015')
    t.notMatch(written, 'jane')
  }
})
