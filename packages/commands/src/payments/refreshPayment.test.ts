import t from 'tap'
import { createFakeProvider } from '../testing/fakeProvider.ts'
import { metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { createRefresh } from './refreshPayment.ts'

const { provider, fake } = createFakeProvider(t)
const { workflow, open } = await workflowHarness(t, provider)

const clock = { ms: 0 }
const refreshPayment = createRefresh(workflow, () => clock.ms)
const questions = () => fake.calls.filter((call) => call.startsWith('retrieve'))

t.test('concurrent callers share one query, and after 5 s the provider is asked again', async (t) => {
  const { payment_id: id } = await open()
  const refresh = async () => (await refreshPayment(id, metadata)).state?.status
  t.same(await Promise.all([refresh(), refresh(), refresh()]), ['pending', 'pending', 'pending'])
  fake.charge(fake.onlyOf(id))
  clock.ms += 4_999
  t.equal(await refresh(), 'pending', 'the record counts')
  t.equal(questions().length, 1)
  clock.ms += 1
  t.equal(await refresh(), 'succeeded')
  t.equal(questions().length, 2)
})

t.test(
  'concurrent callers share the error of a provider that cannot be asked, later ones get the record',
  async (t) => {
    for (const [kind, code] of [
      ['unavailable', 'provider_unavailable'],
      ['unknown', 'provider_outcome_unknown'],
    ] as const) {
      const { payment_id: id } = await open()
      fake.failures.set('retrieve', [{ kind }])
      const both = await Promise.allSettled([refreshPayment(id, metadata), refreshPayment(id, metadata)])
      for (const each of both) t.match(each, { status: 'rejected', reason: { code, details: { payment_id: id } } })
      t.equal((await refreshPayment(id, metadata)).state?.status, 'pending')
    }
    t.equal(questions().length, 2)
  },
)
