// Finance closes a month.
import { demoRights } from '@paylog/identity/sandboxIdentity'
import type { TestSystem } from '@paylog/testing/system'
import t from 'tap'
import { consoleTests, textOf } from '../consoleHarness.ts'
import { savedCsv } from '../csvFile.ts'
import { countClicks } from './clicks.ts'

const finance = { 'x-session-id': 'demo-finance-session' }
const timeZone = 'Europe/Madrid'
const now = new Date()
/** The first hours of this month are in it, and its last hours where the zone is behind UTC are not. */
const border = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1, 3))
const month = new Date(border.getTime() - 86_400_000).toISOString().slice(0, 7)
const test = await consoleTests(t, {
  payments: 480,
  paymentsUntil: border,
  env: { RIGHTS: demoRights, EXTERNAL_WEBHOOKS_ENABLED: 'false' },
})

async function read({ baseUrl }: TestSystem, path: string) {
  const response = await fetch(`${baseUrl}${path}`, { headers: finance })
  return JSON.parse(await response.text())
}

type Row = Readonly<Record<string, string | number | null>>

/** All rows of a list, without any filter. */
async function allRows(system: TestSystem, list: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await read(system, `${list}?limit=100${cursor && `&cursor=${cursor}`}`)
    rows.push(...page.data)
    cursor = page.meta.next_cursor
  }
  return rows
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

test('the month by currency with refunds and disputes, as CSV, and the refunds behind a figure: 5 clicks', async (t, harness) => {
  const { system, open } = harness
  const page = await open('/', { session: 'demo-finance-session' })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Reports', exact: true }).click()
  await page.getByRole('button', { name: /^Month before/ }).click()
  await page.waitForURL(new RegExp(`from=${month}-01`))
  const row = page.getByRole('row').filter({ hasText: 'Sandbox, EUR' })
  await row.waitFor()

  const report = (await read(system, `/admin/reports/${month}?time_zone=${timeZone}`)).data
  const csv = await savedCsv(page, page.getByRole('button', { name: `Download ${report.rows.length} as CSV` }))
  t.equal(csv.rows.length, report.rows.length)
  for (const [at, shown] of csv.rows.entries())
    t.match(shown, {
      currency: report.rows[at].currency,
      payments: String(report.rows[at].payments),
      'gross_cents.ours': String(report.rows[at].gross_cents.ours),
      'refunds_cents.ours': String(report.rows[at].refunds_cents.ours),
      'disputes_cents.ours': String(report.rows[at].disputes_cents.ours),
      'gross_cents.provider': '',
    })

  const euro = report.rows.find(({ currency }: Row) => currency === 'EUR')
  const figure = await textOf(row.getByRole('cell').nth(3))
  await row.getByRole('link', { name: figure }).click()
  await page.getByRole('heading', { name: 'Refunds' }).waitFor()
  const button = page.getByRole('button', { name: /^Download \d+ as CSV/ })
  const refunds = await savedCsv(page, button)
  t.equal(await button.textContent(), `Download ${refunds.rows.length} as CSV`)
  t.equal(-sum(refunds.rows.map(({ amount_cents }) => Number(amount_cents))), euro.refunds_cents.ours)
  t.equal((-sum(refunds.rows.map(({ amount }) => Number(amount)))).toFixed(2), figure.replace('-EUR ', '-'))
  t.ok(refunds.rows.every((refund) => refund[`succeeded_at (${timeZone})`]?.startsWith(month)))
  t.equal(clicks(), 5)
})

test('every figure of a report is the sum of the rows behind its link, found without filters', async (t, harness) => {
  const { system, open } = harness
  const page = await open(`/reports?from=${month}-01&to=${now.toISOString().slice(0, 7)}-01`)
  const table = page.getByRole('table', { name: 'rows of the report' })
  await table.getByRole('link').first().waitFor()
  const { from, to, rows } = (await read(system, `/admin/reports/${month}?time_zone=${timeZone}`)).data
  t.ok(rows.length >= 4, 'in several currencies')
  const isIn = (time: unknown) => typeof time === 'string' && time >= from && time < to
  const [payments, refunds, disputes] = await Promise.all(
    ['/admin/payments', '/admin/refunds', '/admin/disputes'].map((list) => allRows(system, list)),
  )
  const moved = (list: readonly Row[] | undefined, currency: string, time: string, amount: string) =>
    sum((list ?? []).filter((row) => row.currency === currency && isIn(row[time])).map((row) => Number(row[amount])))
  const shown = await table.getByRole('link').all()
  const links = await Promise.all(shown.map(async (link) => String(await link.getAttribute('href'))))
  for (const { currency, ...row } of rows) {
    t.equal(moved(payments, currency, 'completed_at', 'amount_received_cents'), row.gross_cents.ours, currency)
    t.equal(-moved(refunds, currency, 'succeeded_at', 'amount_cents'), row.refunds_cents.ours, currency)
    t.equal(-moved(disputes, currency, 'taken_at', 'amount_cents'), row.disputes_cents.ours, currency)
    for (const [list, figure, amount] of [
      ['payments', row.gross_cents.ours, 'amount_received_cents'],
      ['refunds', -row.refunds_cents.ours, 'amount_cents'],
      ['disputes', -row.disputes_cents.ours, 'amount_cents'],
    ] as const) {
      const href = links.find((each) => each.startsWith(`/console/${list}?`) && each.includes(`currency=${currency}`))
      const { data, meta } = await read(
        system,
        `${href?.replace('/console', '/admin').replace('&status=succeeded', '')}&limit=100`,
      )
      t.equal(meta.next_cursor, null)
      t.equal(sum(data.map((each: Row) => Number(each[amount]))), figure, `${currency} ${list}`)
    }
  }
})
