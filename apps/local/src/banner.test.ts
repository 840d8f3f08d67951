import { execFileSync } from 'node:child_process'
import t from 'tap'
import { type BannerOptions, banner } from './banner.ts'
import { webhookEndpoints } from './settings.ts'

const started: BannerOptions = {
  runtime: { pid: 1, started_at: '', base_url: 'http://127.0.0.1:8080', environment: {}, parts: [] },
  directory: '/paylog/.data',
  directoryIsDefault: true,
  seconds: 1,
  demoIdentity: true,
  sandboxProvider: true,
  endpoints: [],
}

const commands = (text: string) => text.split('\n').filter((line) => /^ {2}(curl|npm|DATA_DIR=)/.test(line))

t.test('the commands name the data directory where it has to be named', async (t) => {
  const settle = 'npm run -s ops -- sandbox settle PAYMENT_ID succeeded'
  t.equal(commands(banner(started)).at(-1), `  ${settle}`)
  const elsewhere = { ...started, directory: '/srv/paylog', directoryIsDefault: false }
  t.equal(commands(banner(elsewhere)).at(-1), `  DATA_DIR=/srv/paylog ${settle}`)
  const directory = "/srv/Pay's log"
  const [assignment] = (commands(banner({ ...elsewhere, directory })).at(-1) ?? '').split(' npm ')
  t.equal(execFileSync('sh', ['-c', `${assignment}; printf %s "$DATA_DIR"`], { encoding: 'utf8' }), directory)
})

t.test('the configured webhook endpoints are named without keys', async (t) => {
  t.notMatch(banner(started), 'Webhook endpoints')
  const endpoints = webhookEndpoints({
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'https://shop.example.com/hooks/paylog?token=hidden',
    WEBHOOK_1_EVENTS: 'payment.*,refund.created',
    WEBHOOK_2_URL: 'https://off.example.com/',
    EXTERNAL_WEBHOOK_URLS: 'https://hooks.slack.com/services/T0/B0/hidden',
  })
  const text = banner({ ...started, endpoints })
  t.match(text, 'Webhook endpoints')
  t.match(text, /1 +https:\/\/shop\.example\.com\/hooks\/paylog +payment\.\*,refund\.created\n/)
  t.match(text, /legacy-1 +https:\/\/hooks\.slack\.com\/… +all\n/)
  t.notMatch(text, /hidden|off\.example/)
})

t.test('the first steps hold for a data directory that has payments already', async (t) => {
  t.notMatch(banner(started), 'so far')
})

t.test('nothing asks for the sandbox where there is none', async (t) => {
  const text = banner({ ...started, sandboxProvider: false })
  t.equal(commands(text).length, 2)
  t.notMatch(text, 'sandbox')
})

t.test(
  "the operator's own identity backend knows no demo people, and a shell takes the placeholders as words",
  async (t) => {
    const text = banner({ ...started, demoIdentity: false })
    t.match(text, "-H 'Authorization: Bearer YOUR_SESSION'")
    t.match(text, "-H 'Authorization: Token YOUR_GUEST_TOKEN'")
    t.notMatch(text, /demo-|[<>]/)
  },
)
