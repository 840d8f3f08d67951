import { given } from '@paylog/testing/assertions'
import t from 'tap'
import { requestWebhookTest, type WebhookTestEvent, type WebhookTestFacts, webhookTestFold } from './webhookTest.ts'

const facts: WebhookTestFacts = {
  webhook_test_id: '018f0000-0000-7000-8000-000000000001',
  occurred_at: '2026-01-02T03:04:05.000Z',
  requested_by: { id: 'user-1', type: 'customer', email: 'ann@example.com' },
  provider_id: 'sandbox',
  canonical_name: 'payment.succeeded',
  provider_type: null,
  generic_type: null,
  body: null,
  object_id: 'test_1',
  amount_cents: 1000,
  currency: 'USD',
  status: 'succeeded',
  customer_id: null,
  customer_email: null,
  subscription: null,
  request_fingerprint: 'a',
  plan: { canonical_events: ['payment.succeeded'], deliveries: [] },
}
const testRequested = (more: Partial<WebhookTestFacts> = {}): WebhookTestEvent => ({
  type: 'WebhookTestRequested',
  data: { ...facts, ...more },
})
const later = { occurred_at: '2026-01-02T03:04:06.000Z', plan: { canonical_events: [], deliveries: [] } }

t.test('requesting a webhook test records it', async (t) => {
  given(t, webhookTestFold, [])
    .when((state) => requestWebhookTest(testRequested(), state))
    .then([testRequested()])
})

t.test('repeating a webhook test request records nothing and keeps the first plan', async (t) => {
  const state = given(t, webhookTestFold, [testRequested()])
    .when((state) => requestWebhookTest(testRequested(later), state))
    .then([])
  t.same(state, facts)
})

t.test('another webhook test request with the same id is idempotency_key_reused', async (t) => {
  given(t, webhookTestFold, [testRequested()])
    .when((state) => requestWebhookTest(testRequested({ request_fingerprint: 'b' }), state))
    .thenThrows('idempotency_key_reused')
})
