// The alerts and the list of what needs attention speak of the same facts, with the same limits.
import { attentionCodes, attentionLimits, paymentCodes } from '@paylog/administration/attention/item'
import t from 'tap'
import { alerts, alertsPage } from '../testing/monitoringFixture.ts'
import { readExpression } from '../testing/promQl.ts'

const codesOfAlerts = attentionCodes.filter((code) => !paymentCodes.some((known) => known === code))

function alertNamed(name: string) {
  const found = alerts.find(({ alert }) => alert === name)
  if (found === undefined) throw new Error(`There is no alert ${name}`)
  return found
}

t.test(
  'every code of attention has an alert, apart from those of payments, which one alert has as its label',
  async (t) => {
    t.same([...new Set(alerts.flatMap(({ labels }) => labels.attention ?? []))].sort(), [...codesOfAlerts].sort())
    t.match(alertNamed('PaymentNeedsAttention').expr, /by \(provider, code\) \(increase\(payment_attention_total/)
  },
)

t.test('an alert on the metric of attention fires for an item of its code', async (t) => {
  for (const { alert, expr, labels } of alerts) {
    if (!expr.includes('paylog_attention')) continue
    t.match(readExpression(expr).selectors, [{ matchers: [{ label: 'code', value: labels.attention }] }], alert)
    t.match(expr, / > 0$/, alert)
  }
})

t.test('an alert on another metric has the limit of its item', async (t) => {
  const { readModelSeconds, lateSeconds, evidenceDays } = attentionLimits
  const limits: Readonly<Record<string, number>> = {
    ProjectionStopped: 0,
    ProjectionBehind: readModelSeconds,
    ProjectionNotReported: readModelSeconds,
    AuditTreeStopped: 0,
    WebhooksOverdue: lateSeconds,
  }
  const others = alerts.filter(({ expr, labels }) => labels.attention && !expr.includes('paylog_attention'))
  t.same(others.map(({ alert }) => alert).sort(), Object.keys(limits).sort())
  for (const { alert, expr } of others) t.equal(Number(/ > (\d+)$/.exec(expr)?.[1]), limits[alert], alert)
  // Its limit is a time already.
  t.equal(alertNamed('WebhooksOverdue').for, undefined)
  t.match(alertNamed('EvidenceDue').annotations.summary, `within ${evidenceDays} days`)
})

t.test('what pages comes before what waits for a ticket', async (t) => {
  const severities = codesOfAlerts.map((code) => {
    const { labels } = alerts.find(({ labels }) => labels.attention === code) ?? { labels: { severity: '' } }
    return labels.severity
  })
  t.same(severities, [...severities].sort())
})

t.test('docs/alerts.md explains every code', async (t) => {
  for (const code of attentionCodes) t.match(alertsPage, `\`${code}\``)
})
