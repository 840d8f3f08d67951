import t from 'tap'
import { decodeNodes } from './nodes.ts'

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const enabled = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://example.com/hook' }

t.test('a node that says only where it is gets the defaults of the interface', async (t) => {
  const { nodes, problems } = decodeNodes(enabled)
  t.strictSame(problems, [])
  t.strictSame(nodes, [
    {
      name: '1',
      url: 'https://example.com/hook',
      patterns: ['all'],
      mode: 'canonical',
      secrets: [],
      retryScheduleMs: [5_000, 10_000, 20_000],
      timeoutMs: 10_000,
    },
  ])
  t.ok(Object.isFrozen(nodes) && Object.isFrozen(nodes[0]))
})

t.test('a node can say everything for itself', async (t) => {
  const { nodes, problems } = decodeNodes({
    WEBHOOK_SCAN_MAX: '3',
    WEBHOOK_3_ENABLED: 'true',
    WEBHOOK_3_URL: 'http://127.0.0.1:9/x?key=1',
    WEBHOOK_3_EVENTS: 'payment.*, stripe:*',
    WEBHOOK_3_EVENT_MODE: 'both',
    WEBHOOK_3_SECRET: `${secret},${secret}`,
    WEBHOOK_3_RETRY_SCHEDULE: '100ms,2s,3m,1h,7',
    WEBHOOK_3_TIMEOUT: '2s',
  })
  t.strictSame(problems, [])
  t.strictSame(nodes, [
    {
      name: '3',
      url: 'http://127.0.0.1:9/x?key=1',
      patterns: ['payment.*', 'stripe:*'],
      mode: 'both',
      secrets: [secret, secret],
      retryScheduleMs: [100, 2_000, 180_000, 3_600_000, 7],
      timeoutMs: 2_000,
    },
  ])
})

t.test('the general retry variables hold for nodes that set none', async (t) => {
  const { nodes } = decodeNodes({
    ...enabled,
    EXTERNAL_WEBHOOK_MAX_RETRIES: '2',
    EXTERNAL_WEBHOOK_RETRY_DELAY: '300',
    EXTERNAL_WEBHOOK_TIMEOUT: '1500',
  })
  t.match(nodes, [{ retryScheduleMs: [300, 600], timeoutMs: 1_500 }])
  t.strictSame(decodeNodes({ ...enabled, EXTERNAL_WEBHOOK_MAX_RETRIES: '0' }).nodes[0]?.retryScheduleMs, [])
})

t.test('only enabled nodes within the scan are used, and one switch turns all off', async (t) => {
  const far = { WEBHOOK_11_ENABLED: 'true', WEBHOOK_11_URL: 'https://example.com' }
  t.strictSame(decodeNodes({ ...far }).nodes, [])
  t.match(decodeNodes({ ...far, WEBHOOK_SCAN_MAX: '11' }).nodes, [{ name: '11' }])
  t.strictSame(decodeNodes({ ...enabled, WEBHOOK_1_ENABLED: 'false' }).nodes, [])
  t.strictSame(decodeNodes({ ...enabled, WEBHOOK_1_ENABLED: '' }).nodes, [])
  t.strictSame(decodeNodes({ ...enabled, EXTERNAL_WEBHOOKS_ENABLED: 'false' }).nodes, [])
  t.strictSame(decodeNodes({ WEBHOOK_2_ENABLED: 'false', WEBHOOK_2_URL: 'not looked at' }).problems, [])
})

t.test('every bad variable is named, and no value is shown', async (t) => {
  const { problems } = decodeNodes({
    EXTERNAL_WEBHOOKS_ENABLED: 'constructor',
    EXTERNAL_WEBHOOK_MAX_RETRIES: '21',
    EXTERNAL_WEBHOOK_RETRY_DELAY: '0',
    EXTERNAL_WEBHOOK_TIMEOUT: '1d',
    WEBHOOK_SCAN_MAX: '2x',
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'ftp://hidden.example/x',
    WEBHOOK_1_EVENTS: 'payment.*,hid*den',
    WEBHOOK_1_EVENT_MODE: 'hidden',
    WEBHOOK_1_SECRET: 'whsec_hidden',
    WEBHOOK_1_RETRY_SCHEDULE: '5s,hidden',
    WEBHOOK_1_TIMEOUT: '6m',
    WEBHOOK_2_ENABLED: 'true',
    WEBHOOK_3_ENABLED: 'true',
    WEBHOOK_3_URL: 'https://user:hidden@example.com',
    WEBHOOK_4_ENABLED: 'hidden',
  })
  t.strictSame(problems.map((problem) => problem.split(' ')[0]).sort(), [
    'EXTERNAL_WEBHOOKS_ENABLED',
    'EXTERNAL_WEBHOOK_MAX_RETRIES',
    'EXTERNAL_WEBHOOK_RETRY_DELAY',
    'EXTERNAL_WEBHOOK_TIMEOUT',
    'WEBHOOK_1_EVENTS',
    'WEBHOOK_1_EVENT_MODE',
    'WEBHOOK_1_RETRY_SCHEDULE',
    'WEBHOOK_1_SECRET',
    'WEBHOOK_1_TIMEOUT',
    'WEBHOOK_1_URL',
    'WEBHOOK_2_URL',
    'WEBHOOK_3_URL',
    'WEBHOOK_4_ENABLED',
    'WEBHOOK_SCAN_MAX',
  ])
  t.notMatch(problems.join('\n'), /hid(?:den|\*)|constructor/)
})
