import t from 'tap'
import { newKeys } from '../load/endpoints.ts'
import { judge } from './judge.ts'
import { judgeNodes } from './judgeNodes.ts'
import { judgeRound, type RoundSeen } from './judgeOutages.ts'
import type { Intent, LogEvent, Outage, Unavailable } from './observations.ts'
import {
  answer,
  checkpointOver,
  create,
  created,
  events,
  id,
  initiated,
  intent,
  intentCreated,
  log,
  notification,
  observed,
  ours,
  type Parts,
  paid,
  payment,
  raw,
  read,
  recorded,
  refund,
  refunded,
  refundId,
  secondId,
  succeeded,
} from './testing/observationsFixture.ts'

const rules = (parts: Parts) => [...new Set(judge(observed(parts)).map(({ rule }) => rule))].sort()
const logOf = (...some: readonly (readonly [string, LogEvent['data']])[]) => recorded(id, some)
const without = (type: string) => log.filter((event) => event.type !== type)
const second = recorded(secondId, [
  ['PaymentInitiated', { total_cents: 2599, currency: 'EUR', provider_id: 'stripe' }],
  ['PaymentCanceled', {}],
])
const secondIntent: Intent = { ...intent, id: 'pi_2', key: 'call-2', charges: 0, received_cents: 0, refunded_cents: 0 }
const foreign: Intent = { ...intent, id: 'pi_9', payment_id: null, refunded_cents: 0, is_foreign: true }
const foreignWebhooks = [created, paid].map((webhook) => ({
  ...webhook,
  webhook_id: `${webhook.webhook_id} foreign`,
  payment_id: 'pi_9',
}))

t.test('the judge finds nothing where log, books, lists, webhooks and answers agree', async (t) => {
  t.same(judge(observed()), [])
  const unpaid = logOf(initiated, intentCreated, ['PaymentAttemptFailed', {}])
  const failure = { ...paid, event: 'payment.failed', status: 'failed' }
  const failed = { ...payment, status: 'failed', amount_received_cents: 0, amount_refunded_cents: 0 }
  const declined = { ...secondIntent, id: 'pi_1', status: 'open', failures: 1 } as const
  const parts = { log: unpaid, intents: [declined], operations: [create], webhooks: [created, failure, raw] }
  t.same(rules({ ...parts, shown: [failed], listed: [failed] }), [], 'a failed payment')
})

t.test('the judge accepts what may happen', async (t) => {
  t.same(rules({ intents: [intent, { ...secondIntent, status: 'canceled' }] }), [], 'a second intent that was canceled')
  t.same(rules({ intents: [intent, foreign], webhooks: [...ours, ...foreignWebhooks] }), [], 'foreign payments')
  t.same(rules({ intents: [intent, { ...foreign, payment_id: id }] }), [], 'a foreign intent that names our payment')
  t.same(
    rules({ webhooks: ours.slice(0, 3).concat(raw), failed_deliveries: [`1 payment.refunded payment-${id}`] }),
    [],
    'a delivery that is shown as failed',
  )
  t.same(rules({ reads: [{ ...read, is_right: false, is_stale: true }] }), [], 'a read that says that it is stale')
  const late = { ...create, answers: [answer(408, { code: 'invalid_request' }), ...create.answers] }
  t.same(rules({ operations: [late, refund] }), [], 'a request that a network held back')
  t.same(rules({ intrusions: [{ owner: 'user 2', request: 'POST', status: 503 }] }), [], 'an error instead of a denial')
  const noticed = logOf(...events, ['ProviderEventIgnored', { attention: 'foreign_intent' }])
  const notice = { ...paid, webhook_id: 'msg_9', event: 'payment.attention', status: null, detail: 'foreign_intent' }
  t.same(rules({ log: noticed, webhooks: [...ours, notice] }), [], 'what needs attention, without a status')
  const notCreated = { call: 'create', outcome: 'rejected', error_code: 'provider_unavailable' }
  const refused = [initiated, ['ProviderCallFailed', notCreated]] as const
  const [, ...later] = events
  const repeated = logOf(...refused, ['PaymentAttemptStarted', {}], ...later)
  t.same(rules({ log: repeated }), [], 'a call that did not reach the provider, and was repeated')
  const rejected = { ...refund, answers: [answer(422, { code: 'refund_exceeds_payment' })], name: 'refund 2' }
  t.same(rules({ operations: [create, refund, rejected] }), [], 'a refund of more than was left')
})

const planted: readonly (readonly [string, Parts, readonly string[]])[] = [
  [
    'a gap in a stream',
    { log: without('ProviderIntentCreated') },
    [
      'gap in a stream',
      'outcome still unknown',
      'payment differs from the log',
      'webhook that is not due',
      'write not in the log',
      'wrong intent',
    ],
  ],
  [
    'an event twice',
    { log: [...log, { ...log[4], revision: 5 } as LogEvent] },
    ['event twice in the log', 'webhook missing'],
  ],
  ['a rewritten log', { earlier_log: [{ ...log[0], leaf: 'other' } as LogEvent] }, ['log rewritten']],
  ['a log that was cut', { earlier_log: [...log, ...second] }, ['checkpoint missing', 'log rewritten']],
  ['an export with a line less', { exported: log.slice(3).map(({ leaf }) => leaf) }, ['export differs from the log']],
  [
    'an export with a line more',
    { exported: [...log.slice(2), ...second].map(({ leaf }) => leaf) },
    ['export differs from the log'],
  ],
  [
    'a leaf that was left out',
    { checkpoints: [checkpointOver([...log.slice(0, 1), ...log.slice(2)])] },
    ['checkpoint contradicts the log'],
  ],
  ['a log without checkpoints', { checkpoints: [] }, ['checkpoint missing']],
  [
    'a checkpoint of another key',
    { checkpoints: [checkpointOver(log, newKeys('example.com/log').signingKey)] },
    ['checkpoint missing', 'checkpoint not signed'],
  ],
  [
    'two results for one key',
    {
      operations: [{ ...create, answers: [...create.answers, answer(201, { id: secondId, position: '12' })] }, refund],
    },
    ['two results for one request', 'write not in the log once'],
  ],
  ['no final answer', { operations: [{ ...create, gave_up: true }, refund] }, ['no final answer']],
  [
    'a valid request that is rejected',
    { operations: [{ ...create, answers: [answer(422, { code: 'idempotency_key_reused' })] }, refund] },
    ['valid request rejected'],
  ],
  [
    'an acknowledged write at a position without an event',
    { operations: [{ ...create, answers: [answer(201, { id, position: '99' })] }, refund] },
    ['write not in the log'],
  ],
  [
    'an acknowledged address that is not recorded',
    {
      operations: [
        create,
        refund,
        {
          ...create,
          action: 'add address',
          name: 'address-1',
          answers: [answer(201, { id: secondId, position: '11' })],
        },
      ],
    },
    ['write not in the log once'],
  ],
  ['another amount than requested', { operations: [{ ...create, amount_cents: 1 }, refund] }, ['write altered']],
  ['another refund than requested', { operations: [create, { ...refund, amount_cents: 499 }] }, ['write altered']],
  [
    'another capture than requested',
    { operations: [create, refund, { ...refund, action: 'capture', answers: [answer(200, { id, position: '14' })] }] },
    ['write altered'],
  ],
  [
    'an acknowledged cancellation without effect',
    { operations: [create, refund, { ...refund, action: 'cancel', answers: [answer(200, { id, position: '14' })] }] },
    ['write not in the log'],
  ],
  ['a payment that nobody requested', { operations: [refund] }, ['payment that nobody requested']],
  [
    'a second intent with another key',
    { intents: [intent, { ...secondIntent, status: 'open' }] },
    ['two payable intents'],
  ],
  ['a second charge', { intents: [{ ...intent, charges: 2 }] }, ['charged more than once']],
  [
    'an intent without its payment',
    { intents: [intent, { ...secondIntent, payment_id: secondId }] },
    ['intent without payment'],
  ],
  ['a payment without its intent', { intents: [] }, ['payment without intent', 'wrong amount', 'wrong status']],
  [
    'an open call',
    {
      log: without('RefundRecorded'),
      shown: [{ ...payment, amount_refunded_cents: 0 }],
      listed: [{ ...payment, amount_refunded_cents: 0 }],
      webhooks: [created, paid, raw],
      operations: [create, { ...refund, answers: [answer(201, { id: refundId, position: '13' })] }],
    },
    ['outcome still unknown', 'wrong amount'],
  ],
  ['a status that is not that of the books', { intents: [{ ...intent, status: 'canceled' }] }, ['wrong status']],
  ['money that is not in the books', { intents: [{ ...intent, received_cents: 2598 }] }, ['wrong amount']],
  ['a refund off by a cent', { intents: [{ ...intent, refunded_cents: 501 }] }, ['wrong amount']],
  [
    'an outcome recorded twice',
    { log: logOf(...events, succeeded) },
    [
      'list differs from the log',
      'outcome recorded twice',
      'payment differs from the log',
      'webhook missing',
      'wrong amount',
    ],
  ],
  [
    'a foreign payment as ours',
    { intents: [intent, { ...foreign, id: 'pi_1' }] },
    ['foreign payment appears as ours', 'webhook missing'],
  ],
  ['a payment that the API does not know', { shown: [undefined] }, ['payment not shown']],
  ['a payment that is not in the log', { shown: [payment, { ...payment, id: secondId }] }, ['payment not in the log']],
  [
    'a payment that differs from the log',
    { shown: [{ ...payment, amount_refunded_cents: 0 }] },
    ['payment differs from the log'],
  ],
  ['a list that is behind', { listed: [{ ...payment, status: 'pending' }] }, ['list differs from the log']],
  ['a payment that is missing in the list', { listed: [] }, ['payment not listed once']],
  ['a payment that is listed twice', { listed: [payment, payment] }, ['payment not listed once']],
  ['a missing webhook', { webhooks: [created, paid, raw] }, ['webhook missing']],
  ['a webhook with two ids', { webhooks: [...ours, { ...paid, webhook_id: 'msg_9' }] }, ['webhook with several ids']],
  [
    'a webhook of another outcome',
    { webhooks: [...ours, { ...paid, webhook_id: 'msg_9', event: 'payment.failed', status: 'canceled' }] },
    ['webhook that is not due'],
  ],
  [
    'a webhook about nothing known',
    { webhooks: [...ours, { ...created, webhook_id: 'msg_9', payment_id: secondId }] },
    ['webhook that is not due'],
  ],
  [
    'a webhook with a wrong amount',
    { webhooks: [created, { ...paid, amount_cents: 1 }, refunded, raw] },
    ['wrong amount'],
  ],
  [
    'a webhook at a wrong endpoint',
    { webhooks: [...ours, { ...paid, endpoint: '3', webhook_id: 'msg_9' }] },
    ['webhook at a wrong endpoint'],
  ],
  [
    'a webhook with a wrong signature',
    { webhooks: [{ ...created, is_signed: false }, ...ours.slice(1)] },
    ['wrong signature'],
  ],
  [
    'one id for two webhooks',
    { webhooks: [created, { ...paid, webhook_id: 'msg_1' }, refunded, raw] },
    ['one webhook id for two webhooks'],
  ],
  ['a missing raw webhook', { webhooks: ours.slice(0, 4) }, ['webhook missing']],
  [
    'a raw webhook of no notification',
    { webhooks: [...ours, { ...raw, webhook_id: 'msg_9', notification_id: 'evt_2' }] },
    ['webhook that is not due'],
  ],
  [
    'a raw webhook with another name',
    { webhooks: [...ours.slice(0, 4), { ...raw, event: 'stripe:charge.updated' }] },
    ['raw webhook misnamed'],
  ],
  [
    'a notification that was never accepted',
    { notifications: [{ ...notification, accepted: 0 }] },
    ['notification not accepted'],
  ],
  [
    'a forged notification',
    { notifications: [notification, { ...notification, id: 'evt_x', kind: 'forged' }] },
    ['forged notification accepted'],
  ],
  [
    "another owner's text in a response",
    { sightings: [{ caller: 'user 2', owner: 'user 1', request: 'GET /payments', times: 1 }] },
    ["another owner's data"],
  ],
  [
    "a success for another owner's payment",
    { intrusions: [{ owner: 'user 2', request: 'POST', status: 200 }] },
    ["another owner's data"],
  ],
  ['a read that does not show the write', { reads: [{ ...read, is_right: false }] }, ['own write not shown']],
]

t.test('the judge reports each altered observation by its rule', async (t) => {
  for (const [what, parts, expected] of planted) t.same(rules(parts), expected, what)
})

const outage: Outage = {
  ...{ kind: 'leader-stop', story: 'SIGSTOP the leader', is_alone: true, leader_ms: 4_000, write_ms: 1_900 },
  log_lines: { projector: 1 },
}
const unavailable: Unavailable = {
  ...{ request: 'POST /payments/intents', status: 503, code: 'event_store_unavailable', has_retry_after: true },
  ...{ calls_provider: false, ms: 5_400 },
}
const round: RoundSeen = { story: outage.story, unavailable: [unavailable], alarms: [], outage }
const slow = { ...unavailable, ms: 5_600 }

const rounds: readonly (readonly [what: string, seen: Partial<RoundSeen>, rules: readonly string[]])[] = [
  ['an election that is ridden out', {}, []],
  ['a 503 after more than 5.5 s', { unavailable: [slow] }, ['slow 503']],
  ['no answer at all', { unavailable: [{ ...slow, status: null, code: null }] }, ['slow 503']],
  ['a slow 503 after a call of a provider', { unavailable: [{ ...slow, calls_provider: true }] }, []],
  ['a slow 503 for another reason', { unavailable: [{ ...slow, code: 'service_unavailable' }] }, []],
  ['a slow 503 beside other faults', { unavailable: [slow], outage: { ...outage, is_alone: false } }, []],
  [
    'a 503 without Retry-After, and without a fault of a node',
    { unavailable: [{ ...unavailable, has_retry_after: false }], outage: undefined },
    ['503 without Retry-After'],
  ],
  ['the alarm of a changed log', { alarms: ['worker: the log was cut, restored or replaced'] }, ['false alarm']],
  ['a first write after 2.1 s', { outage: { ...outage, write_ms: 2_100 } }, ['write late after an election']],
  ['no write at all', { outage: { ...outage, write_ms: null } }, ['write late after an election']],
]

t.test('the judge reports what a round of faults may not show, a late write only if it is strict', async (t) => {
  for (const [what, seen, expected] of rounds) {
    const rulesOf = (isStrict: boolean) =>
      judgeRound({ ...round, ...seen }, { slowMs: 5_500, isStrict }).map(({ rule }) => rule)
    t.same(rulesOf(true), expected, what)
    const isLate = expected.includes('write late after an election')
    t.same(rulesOf(false), isLate ? [] : expected, `${what}, not strict`)
  }
})

t.test('the judge compares the logs of nodes up to the end of the first, event by event', async (t) => {
  const events = [1n, 2n, 3n].map((position) => ({ position, name: `event ${position}`, hash: `hash ${position}` }))
  const [first, second, third] = events
  const logs = (other: typeof events) => judgeNodes(new Map(Object.entries({ a: events.slice(0, 2), b: other })))
  t.same(logs(events), [], 'what was recorded after the end')
  const changed = { position: 2n, name: 'event 2', hash: 'other' }
  for (const other of [[first], [first, changed], [first, third], [second, first]]) {
    const [difference] = logs(other.filter((event) => event !== undefined))
    t.match(difference, { rule: 'logs of nodes differ', story: /b has/ })
  }
})
