// The proof of a payment over HTTP, verified as a browser does.
import { randomUUID } from 'node:crypto'
import { recorderHarness } from '@paylog/audit-log/testing/recorderHarness'
import { verifyPaymentProof } from '@paylog/client/verifyProof'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import { newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { goldenSamples } from '@paylog/testing/goldenSamples'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'

const recorder = await recorderHarness(t)
const { store, verifierKey } = recorder
const { get } = await operatorHarness(t, {}, recorder.eventStore)
const auditor = { 'x-session-id': 'demo-auditor-session' }
const support = { 'x-session-id': 'demo-support-session' }

const samples = ['PaymentInitiated', 'PaymentSucceeded'].map((type) => {
  const found = goldenSamples().find(({ storedType }) => storedType === type)
  if (found === undefined) throw new Error(`There is no sample of ${type}`)
  return found
})

/** Only the bytes matter here, not what they say. @returns the id of the payment */
async function recordPayment(): Promise<string> {
  const id = randomUUID()
  const fold = { initialState: null, evolve: () => null }
  await store.handle({
    stream: paymentStream(id),
    fold,
    decide: () => samples.map(({ event }) => event),
    metadata: samples[0]?.metadata ?? { correlationId: id, causationId: id, actor: 'worker' },
    assumed: newStream(fold),
  })
  return id
}

t.test('a payment is proven once a checkpoint covers its newest event, and the proof is audited', async (t) => {
  const id = await recordPayment()
  const path = `/admin/payments/${id.toUpperCase()}/proof`
  const early = await get(path, auditor)
  t.match([early.statusCode, early.json().error.message], [404, /newest event of this payment yet: there is none yet/])
  t.same(await recordedActions(store), [], 'what was not shown is not recorded')

  recorder.start(recorder.signing(100))
  const response = await waitFor(
    async () => {
      const latest = await get(path, { ...auditor, 'x-reason': 'Audit%202026' })
      return latest.statusCode === 200 && latest
    },
    { what: 'the proof' },
  )
  t.equal(response.headers['content-disposition'], `attachment; filename="payment-${id}.proof.json"`)
  t.match(await verifyPaymentProof(response.body, verifierKey), {
    payment: id,
    checkpoint: { origin: 'example.com/payments' },
    events: [{ type: 'PaymentInitiated' }, { type: 'PaymentSucceeded' }],
  })
  const forged = response.body.replace('PaymentSucceeded', 'PaymentCanceled')
  await t.rejects(verifyPaymentProof(forged, verifierKey), { of: 'proof', message: /leads to another root/ })
  const [action] = await recordedActions(store)
  const target = { kind: 'payment', id }
  t.match(action?.data, { action: 'show_payment', target, reason: 'Audit 2026', details: { proof: true } })
})

t.test('a proof needs the right export and a payment', async (t) => {
  const id = await recordPayment()
  const forbidden = await get(`/admin/payments/${id}/proof`, support)
  t.match([forbidden.statusCode, forbidden.json().error.details], [403, { right: 'export' }])
  for (const unknown of [randomUUID(), 'payment'])
    t.match((await get(`/admin/payments/${unknown}/proof`, auditor)).json(), { error: { message: /^No payment/ } })
})
