// Prints the figures of a run as tables, then its violations.
import type { RequestsResult } from './run.ts'

const storiesShown = 40

export function requestsReport(result: RequestsResult, durationMs: number): string {
  const { sent, statuses, mutations, errors, repeated, growth, violations } = result
  const routes = [...new Set([...statuses.keys()].map((name) => name.slice(0, -2)))].toSorted()
  const digits = ['2', '4', '5', '0']
  const isReceiver = (name: string) => /^POST \/webhooks\/(stripe|paypal|authorize-net|sandbox) /.test(name)
  const toReceivers = [...statuses].filter(([name]) => isReceiver(name)).reduce((sum, [, count]) => sum + count, 0)
  const rows: readonly (readonly (string | number)[])[] = [
    ['route', '2xx', '4xx', '5xx', 'none'],
    ...routes.map((route) => [route, ...digits.map((digit) => statuses.get(`${route} ${digit}`) ?? 0)]),
    [],
    ['memory, handles and open files', 'warmed up', 'end'],
    ...growth.map(({ name, measure, before, after }) => [`${name}, ${measure}`, before.toFixed(1), after.toFixed(1)]),
    [],
    ['requests', sent],
    ...[...mutations].toSorted(([, a], [, b]) => b - a).map(([name, count]) => [`  changed: ${name}`, count]),
    ['  to receivers of providers', toReceivers],
    ['  sent again: no response, 502, 503 or 504', repeated],
    ...[...errors].map(([name, count]) => [`  logged by ${name.slice(0, 150)}`, count]),
    ['seconds', Math.round(durationMs / 1_000)],
    ['violations', violations.length],
    ...[...Map.groupBy(violations, ({ rule, route }) => `  ${rule}, ${route}`)].map(([name, all]) => [
      name,
      all.length,
    ]),
  ]
  const width = Math.max(...rows.map(([name = '']) => String(name).length))
  const table = rows.map(([name = '', ...cells]) =>
    [String(name).padEnd(width), ...cells.map((cell) => String(cell).padStart(9))].join(' '),
  )
  const stories = violations.map(
    ({ rule, route, index, story, request }) => `${rule}, ${route}, ${index}: ${story}\n  ${request}`,
  )
  return [...table, ...stories.slice(0, storiesShown)].join('\n')
}
