import t from 'tap'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { endpointState } from './endpointState.ts'

const now = Date.parse('2026-01-31T12:00:00Z')
const idle: EndpointReport = {
  ...{ endpoint: '1', name: 'Shop', url: 'https://shop.example.com/', events: ['all'], mode: 'canonical' },
  ...{ format: 'json', retry_schedule: [5], timeout_ms: 10_000, is_configured: true, disabled_at: null },
  ...{ pending: 0, failed: 0, oldest_pending_at: null, last_success_at: null, last_failure: null, recent: null },
}
const success = { last_success_at: '2026-01-31T11:59:00Z' }
const failure = { last_failure: { at: '2026-01-31T11:58:00Z', http_status: 503, error: 'unexpected_status' } }

t.test('the state of an endpoint follows from its last outcome, and from what waits', async (t) => {
  const states: readonly (readonly [Partial<EndpointReport>, object])[] = [
    [{}, { kind: 'unused', tone: 'quiet' }],
    [success, { kind: 'healthy', tone: 'good' }],
    [failure, { kind: 'failing', tone: 'bad', text: 'HTTP 503', at: failure.last_failure.at }],
    [{ ...success, ...failure }, { kind: 'healthy' }],
    [
      { ...success, ...failure, failed: 12 },
      { kind: 'missed', text: '12 deliveries failed and were not sent again' },
    ],
    [{ last_success_at: '2026-01-31T11:57:00Z', ...failure, failed: 12 }, { kind: 'failing' }],
    [{ ...success, pending: 3, oldest_pending_at: '2026-01-31T11:59:30Z' }, { kind: 'healthy' }],
    [
      { ...success, pending: 1, oldest_pending_at: '2026-01-31T11:00:00Z' },
      { kind: 'late', text: '1 delivery waits' },
    ],
    [
      { ...failure, disabled_at: '2026-01-31T11:58:01Z', pending: 2 },
      { kind: 'paused', text: '2 deliveries wait' },
    ],
    [
      { is_configured: false, disabled_at: '2026-01-31T11:58:01Z' },
      { kind: 'removed', text: 'nothing waits' },
    ],
  ]
  for (const [more, expected] of states)
    t.match(endpointState({ ...idle, ...more }, now), expected, JSON.stringify(more))
})
