// Every list of administrators as a file, with the columns that spreadsheets and scripts rely on.
import { randomUUID } from 'node:crypto'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { projections } from '@paylog/projections/registry'
import { addActionTo, addPaymentTo, createLogFixture, user } from '@paylog/projections/testing/logFixture'
import { reapply } from '@paylog/projections/testing/projectionHarness'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import t from 'tap'
import { operatorHarness } from './testing/operatorHarness.ts'

const { endpoints } = decodeEndpoints({ WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://shop.example.com/' })
const { pool, store, get, jobs } = await operatorHarness(t, { endpoints })

const as = (who: string) => ({ 'x-session-id': `demo-${who}-session`, accept: 'text/csv' })
const asAdmin = as('admin')

const at = '2026-02-28T23:30:00.000Z'
const report = (provider_payment_id: string) => ({
  ...{ occurred_at: at, provider_time: at, provider_event_id: null, provider_intent_id: null, provider_payment_id },
  ...{ amount_cents: 100, currency: null },
})
const log = createLogFixture()
const paid = addPaymentTo(log, {
  ...user('ada', 'ada@example.com'),
  occurred_at: at,
  total_cents: 2200,
  concept: '=1+1',
})
log.decide(paid, (state) => recordStatus({ ...report('ch_1'), amount_cents: null, status: 'succeeded' }, state))
log.decide(paid, (state) =>
  recordRefund({ ...report('ch_1'), refund_id: null, provider_refund_id: 're_1', status: 'succeeded' }, state),
)
const dispute = { provider_dispute_id: 'du_1', provider_status: 'x', reason: 'fraudulent', evidence_due_by: at }
log.decide(paid, (state) => recordDispute({ ...report('ch_1'), ...dispute, status: 'open' }, state))
addPaymentTo(log, { occurred_at: '2026-03-01T00:00:00.000Z', total_cents: 22, currency: 'JPY' })
addActionTo(log, {
  action: 'refund_payment',
  target: { kind: 'payment', id: paid },
  actor: 'operator:ann',
  occurred_at: at,
})
for (const projection of projections) await reapply(pool, projection, log)
await jobs.start(
  { id: randomUUID(), kind: 'verify', subject: 'payments', isDryRun: false, requestedBy: 'operator:ann' },
  async () => ({ rows: 1 }),
)
const deliveries = 1_234
await pool.query(
  `insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
     correlation_id, causation_id, attempts, attempts_made, last_error, last_http_status, last_attempt_at, ended_at, created_at, is_test)
   select gen_random_uuid(), '1', 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-1', n, gen_random_uuid(),
     'c', 'c', 1, '[]', case when n % 2 = 0 then 'timeout' end, 200, at, at, at - (n / 3) * interval '1 hour', false
   from generate_series(1, $1::int) as n, date_trunc('milliseconds', now()) as at`,
  [deliveries],
)

type File = { readonly count: number; readonly header: string; readonly lines: readonly string[] }

async function fileOf(path: string, headers: Record<string, string> = asAdmin): Promise<File> {
  const response = await get(path, headers)
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.body}`)
  const [header = '', ...lines] = response.body.slice(1).split('\r\n')
  return { count: Number(response.headers['x-row-count']), header, lines: lines.slice(0, -1) }
}

const columns: Readonly<Record<string, string>> = {
  '/admin/payments':
    'id,subtotal_cents,subtotal,tax_cents,tax,discount_cents,discount,total_cents,total,amount_cents,amount,amount_received_cents,' +
    'amount_received,amount_refunded_cents,amount_refunded,currency,status,description,concept,reference_code,category,tags,provider_id,' +
    'payment_method_id,is_guest_payment,guest_email,created_at (UTC),updated_at (UTC),completed_at (UTC),dispute_status,user_id,attention',
  '/admin/refunds':
    'id,payment_id,amount_cents,amount,currency,reported_amount_cents,reported_amount,reported_currency,status,reason,note,' +
    'provider_refund_id,failure_code,created_at (UTC),updated_at (UTC),provider_id,succeeded_at (UTC),returned_at (UTC),concept,reference_code',
  '/admin/disputes':
    'id,payment_id,provider_id,provider_dispute_id,amount_cents,amount,currency,reported_amount_cents,reported_amount,reported_currency,' +
    'status,reason,evidence_due_by (UTC),created_at (UTC),updated_at (UTC),concept,reference_code',
  '/admin/payment-methods?user_id=ada': '',
  '/admin/addresses?user_id=ada': '',
  '/admin/products': '',
  '/admin/audit-trail': 'id,action,target.kind,target.id,actor,reason,details,created_at (UTC)',
  '/admin/reports/2026-02':
    'provider_id,currency,payments,opening_cents.ours,opening.ours,opening_cents.provider,opening.provider,opening_cents.difference,' +
    'opening.difference,gross_cents.ours,gross.ours,',
  '/admin/reports?from=2026-02-01&to=2026-03-01': 'provider_id,currency,payments,',
  '/admin/webhook-endpoints': 'endpoint,url,events,mode,format,is_configured,',
  '/admin/webhook-deliveries': '',
  '/admin/privacy/erasures': 'id,kind,occurred_at (UTC),actor,keys',
  '/admin/jobs': 'id,kind,subject,status,requested_by,created_at (UTC),updated_at (UTC),ended_at (UTC),progress.step,',
  '/admin/projections':
    'projection,schema_version,is_running,is_rebuilding,is_verifying,lag.events,lag.is_more,lag.seconds,',
}

t.test('every list of administrators is a file with all of its rows, for who may read it and export', async (t) => {
  const counts: Readonly<Record<string, number>> = {
    '/admin/payments': 2,
    '/admin/refunds': 1,
    '/admin/disputes': 1,
    '/admin/audit-trail': 1,
    '/admin/reports/2026-02': 1,
    '/admin/webhook-deliveries': deliveries,
    '/admin/projections': projections.length,
    '/admin/jobs': 1,
    '/admin/webhook-endpoints': 1,
  }
  for (const [path, header] of Object.entries(columns)) {
    const file = await fileOf(path)
    t.ok(file.header.startsWith(header), `${path}: ${file.header}`)
    t.equal(file.lines.length, file.count, path)
    if (path in counts) t.equal(file.count, counts[path], path)
    const isPrivacy = path === '/admin/privacy/erasures'
    t.equal((await get(path, as('auditor'))).statusCode, isPrivacy ? 403 : 200, `${path} with read and export`)
    t.equal((await get(path, as('support'))).statusCode, 403, `${path} without export`)
    t.equal((await get(path, { ...as('support'), accept: '*/*' })).statusCode, isPrivacy ? 403 : 200, path)
  }
  const names = (await recordedActions(store)).flatMap(({ data: { action, target } }) =>
    action === 'export_list' ? [target?.id] : [],
  )
  for (const path of Object.keys(columns)) {
    const name = /report/.test(path) ? 'report' : (/^[^?]*/.exec(path)?.[0].split('/').at(-1) ?? '')
    t.ok(names.includes(name), `${name} is audited`)
  }
})

t.test('the file of deliveries has each of them once, newest first, by its filter', async (t) => {
  const { header, lines } = await fileOf('/admin/webhook-deliveries?limit=5')
  const [id, created] = ['id', 'created_at (UTC)'].map((name) => header.split(',').indexOf(name))
  const cells = lines.map((line) => line.split(','))
  t.equal(new Set(cells.map((row) => row[id ?? 0])).size, deliveries)
  const times = cells.map((row) => row[created ?? 0])
  t.same(times, times.toSorted().reverse())
  t.equal((await fileOf('/admin/webhook-deliveries?status=failed')).count, deliveries / 2)
  t.equal((await fileOf('/admin/webhook-deliveries?payment_id=x')).count, 0)
})

t.test('filter and file agree on the day of a payment, in the zone of the file', async (t) => {
  const zone = 'time_zone=Europe/Berlin'
  const { header, lines } = await fileOf(`/admin/payments?${zone}&created_at_from=2026-02-28T23:59:59.999%2B01:00`)
  t.match(header, /created_at \(Europe\/Berlin\)/)
  t.equal(lines.length, 2)
  for (const line of lines) t.match(line, /,2026-03-01T/)
  const before = await fileOf(`/admin/payments?${zone}&created_at_to=2026-03-01T00:00:00%2B01:00`)
  t.equal(before.count, 0)
  const report = async (zone: string) => (await get(`/admin/reports/2026-03?time_zone=${zone}`)).json().data
  const { rows, from, to, time_zone } = await report('Europe/Berlin')
  t.match(
    [rows.length, from, to, time_zone],
    [1, '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z', 'Europe/Berlin'],
  )
  t.equal((await report('UTC')).rows.length, 0)
})

t.test(
  'a file shows texts as texts, amounts in decimals of their currency, and the order that was asked for',
  async (t) => {
    const { lines } = await fileOf('/admin/payments?orderBy=amount_cents&orderDir=desc&page=7&limit=1')
    t.match(lines[0], `${paid},2200,22.00,0,0.00,0,0.00,2200,22.00,2200,22.00,2200,22.00,100,1.00,EUR,succeeded,`)
    t.match(lines[0], `,'=1+1,`)
    t.match(lines[1], ',22,22,0,0,0,0,22,22,22,22,0,0,0,0,JPY,pending,')
    t.match((await fileOf('/admin/payments?search=22.00')).lines, [/EUR/])
  },
)
