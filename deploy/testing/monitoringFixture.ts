// Reads the alert rules, the dashboard, the scrape configuration and docs/alerts.md.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

type Alert = {
  readonly alert: string
  readonly expr: string
  /** How long it must be true. */
  readonly for?: string
  /** `attention`: the code of the same fact in GET /admin/attention. */
  readonly labels: { readonly severity: string; readonly attention?: string }
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

type Job = {
  readonly job_name: string
  readonly basic_auth?: Readonly<Record<'username' | 'password_file', string>>
  readonly dns_sd_configs: readonly { readonly names: readonly string[]; readonly port: number }[]
}

type Panel = {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  /** Absent for a row. */
  readonly datasource?: object
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[]
}

type Dashboard = {
  readonly schemaVersion: number
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[]
  }
  readonly panels: readonly Panel[]
}

type Compose = {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const rules: { readonly groups: readonly { readonly rules: readonly Alert[] }[] } = parse(
  read('deploy/prometheus/alerts.yml'),
)
export const alerts = rules.groups.flatMap(({ rules }) => rules)

const scraping: { readonly scrape_configs: readonly Job[] } = parse(read('deploy/prometheus/prometheus.yml'))
export const jobs = scraping.scrape_configs

export const dashboard: Dashboard = JSON.parse(read('deploy/grafana/paylog.json'))
export const compose: Compose = parse(read('docker-compose.yml'), { merge: true })
export const alertsPage = read('docs/alerts.md')
