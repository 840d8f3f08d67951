import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { alerts, alertsPage, compose, jobs } from '../testing/monitoringFixture.ts'

const headings = [...alertsPage.matchAll(/^### (?<name>\w+)$/gm)].map(({ groups }) => groups?.name)

t.test('docs/alerts.md has a section for every alert, in the same order', async (t) => {
  t.same(
    headings,
    alerts.map(({ alert }) => alert),
  )
})

t.test('every alert links to its section, and alert names are unique', async (t) => {
  for (const { alert, annotations } of alerts) t.equal(annotations.runbook, `docs/alerts.md#${alert.toLowerCase()}`)
  t.equal(new Set(headings).size, headings.length)
})

t.test('every section of docs/alerts.md has the four standard paragraphs', async (t) => {
  const sections = alertsPage.split(/^### /m).slice(1)
  for (const section of sections) {
    const [name = ''] = section.split('\n')
    for (const word of ['Who', 'Look', 'Do', 'Over']) t.match(section, `**${word}:**`, `${name} has ${word}`)
  }
})

t.test('every alert has the severity page or ticket', async (t) => {
  for (const { alert, labels } of alerts) t.ok(['page', 'ticket'].includes(labels.severity), alert)
})

t.test('Prometheus scrapes the compose services on their ports', async (t) => {
  const own = jobs.filter(({ job_name }) => job_name !== 'eventstore')
  t.same(
    own.map(({ job_name }) => job_name),
    ['command-api', 'query-api', 'operator-api', 'projector', 'worker'],
  )
  for (const { job_name, dns_sd_configs } of own) {
    const { PORT, HEALTH_PORT } = compose.services[job_name]?.environment ?? {}
    t.same(dns_sd_configs, [{ names: [job_name], type: 'A', port: Number(PORT ?? HEALTH_PORT) }])
  }
})

t.test('Prometheus logs in at the event store, which shows its metrics to nobody else', async (t) => {
  const job = jobs.find(({ job_name }) => job_name === 'eventstore')
  t.same(job?.basic_auth, { username: 'paylog', password_file: '/run/secrets/eventstore_password' })
})

const promtool = (...args: readonly string[]) =>
  spawnSync('promtool', args, { cwd: fileURLToPath(new URL('.', import.meta.url)), encoding: 'utf8' })

const skip = promtool('--version').error ? 'promtool is not installed' : false
t.test('promtool accepts the rules and the configuration, and the rule tests pass', { skip }, async (t) => {
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'alerts.promtool.yml'],
  ]) {
    const { status, stdout, stderr } = promtool(...args)
    t.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`)
  }
})
