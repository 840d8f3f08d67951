import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  canonicalOnly,
  endpointSettings,
  messagesTo,
  ourPayment,
  payment_id,
  simulated,
  tested,
  unchangedSubscription,
  unmatched,
} from '../testing/eventFixtures.ts'

const bodiesOf = (event: RecordedDomainEvent, mode = 'canonical') =>
  messagesTo(event, endpointSettings(1, mode)).map(({ body }) => body)
const ours = '"provider":"stripe","timestamp":"2026-01-02T03:04:05.678Z"'
const theirs = '"provider":"stripe","timestamp":"2026-01-02T03:04:05.000Z"'

t.test(
  'a canonical body is exactly the payload of the interface, with its order of fields [6.2-canonical-payload]',
  async (t) => {
    t.strictSame(bodiesOf({ type: 'PaymentSucceeded', data: ourPayment }), [
      `{"event":"payment.succeeded",${ours},"data":{"payment_id":"${payment_id}","amount":2200,"currency":"USD",` +
        '"status":"succeeded","user":{"id":"u1","type":"customer","email":"ann@example.com"},"project":{"id":"shop"}}}',
    ])
  },
)

t.test('an anonymous payer has a null id, and may name a project of PROJECT_IDS', async (t) => {
  const data = { ...ourPayment, payer: { id: null, type: 'guest', email: null }, project_id: 'listed', reason: null }
  t.strictSame(bodiesOf({ type: 'PaymentCanceled', data }), [
    `{"event":"payment.failed",${ours},"data":{"payment_id":"${payment_id}","amount":2200,"currency":"USD",` +
      '"status":"canceled","user":{"id":null,"type":"guest","email":null},"project":{"id":"listed"}}}',
  ])
})

t.test(
  'metadata selects the project of a payment only with a session, or from the list of projects [10.4-project]',
  async (t) => {
    const guest = { id: null, type: 'guest', email: 'ann@example.com' }
    const projectOf = (payer: typeof ourPayment.payer, project_id: string | null) =>
      bodiesOf({ type: 'PaymentSucceeded', data: { ...ourPayment, payer, project_id } }).map(
        (body) => JSON.parse(body).data.project.id,
      )
    t.same(projectOf(ourPayment.payer, 'own'), ['own'])
    t.same(projectOf(ourPayment.payer, null), ['shop'])
    t.same(projectOf(guest, 'own'), ['shop'])
    t.same(projectOf(guest, 'listed'), ['listed'])
  },
)

t.test(
  'subscription messages append subscription_id, customer_id and current_period_end [10.4-subscriptions]',
  async (t) => {
    t.strictSame(
      bodiesOf(
        unmatched({
          generic_type: 'invoice.payment_succeeded',
          object_id: 'in_1',
          status: 'paid',
          subscription: unchangedSubscription,
        }),
      ),
      [
        `{"event":"membership.extended",${theirs},"data":{"payment_id":"in_1","amount":2200,"currency":"USD",` +
          '"status":"paid","user":{"id":"cus_1","type":"customer","email":"bo@example.com"},"project":{"id":"shop"},' +
          '"subscription_id":"sub_1","customer_id":"cus_1","current_period_end":"2026-02-02T03:04:05.000Z"}}',
      ],
    )
  },
)

t.test("unknown values are null in the interface's fields and absent in ours", async (t) => {
  const unknownFields = { amount_cents: null, currency: null, status: null, customer_email: null }
  t.strictSame(
    bodiesOf(unmatched({ generic_type: 'customer.updated', object_id: 'cus_9', customer_id: null, ...unknownFields })),
    [
      `{"event":"customer.updated",${theirs},"data":{"payment_id":null,"amount":null,"currency":null,"status":null,` +
        '"user":{"id":"cus_9","type":"customer","email":null},"project":{"id":"shop"},"customer_id":"cus_9"}}',
    ],
  )
})

t.test('a test or simulation has "test":true as its last field, in every mode [10.4-test-field]', async (t) => {
  for (const event of [tested(), simulated()])
    t.strictSame(bodiesOf(event, 'raw'), [
      `{"event":"stripe:payment_intent.succeeded",${ours},"data":{"id":"evt_1", "amount":22.00},"test":true}`,
    ])
  t.strictSame(bodiesOf(tested({ canonical_name: 'payment.succeeded', ...canonicalOnly }), 'both'), [
    `{"event":"payment.succeeded",${ours},"data":{"payment_id":"pi_1","amount":2200,"currency":"USD",` +
      '"status":"succeeded","user":{"id":"u7","type":"admin","email":"cy@example.com"},"project":{"id":"shop"}},' +
      '"test":true}',
  ])
})
