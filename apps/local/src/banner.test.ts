import { execFileSync } from 'node:child_process'
import t from 'tap'
import { type BannerOptions, banner } from './banner.ts'
import { webhookEndpoints } from './settings.ts'

const options: BannerOptions = {
  runtime: { pid: 1, started_at: '', base_url: 'http://127.0.0.1:8080', environment: {}, parts: [] },
  directory: '/paylog/.data',
  directoryIsDefault: true,
  seconds: 1,
  demoIdentity: true,
  sandboxProvider: true,
  endpoints: [],
}

const commands = (text: string) => text.split('\n').filter((line) => /^ {2}(curl|npm|DATA_DIR=)/.test(line))

t.test('the printed commands set DATA_DIR when it is not the default', async (t) => {
  const settle = 'npm run -s ops -- sandbox settle PAYMENT_ID succeeded'
  t.equal(commands(banner(options)).at(-1), `  ${settle}`)
  const elsewhere = { ...options, directory: '/srv/paylog', directoryIsDefault: false }
  t.equal(commands(banner(elsewhere)).at(-1), `  DATA_DIR=/srv/paylog ${settle}`)
  const directory = "/srv/Pay's log"
  const [assignment] = (commands(banner({ ...elsewhere, directory })).at(-1) ?? '').split(' npm ')
  t.equal(execFileSync('sh', ['-c', `${assignment}; printf %s "$DATA_DIR"`], { encoding: 'utf8' }), directory)
})

t.test('the start text lists the configured webhook endpoints without the secrets in their URLs', async (t) => {
  t.notMatch(banner(options), 'Webhook endpoints')
  const endpoints = webhookEndpoints({
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'https://shop.example.com/hooks/paylog?token=hidden',
    WEBHOOK_1_EVENTS: 'payment.*,refund.created',
    WEBHOOK_2_URL: 'https://off.example.com/',
    EXTERNAL_WEBHOOK_URLS: 'https://hooks.slack.com/services/T0/B0/hidden',
  })
  const text = banner({ ...options, endpoints })
  t.match(text, 'Webhook endpoints')
  t.match(text, /1 +https:\/\/shop\.example\.com\/hooks\/paylog +payment\.\*,refund\.created\n/)
  t.match(text, /legacy-1 +https:\/\/hooks\.slack\.com\/… +all\n/)
  t.notMatch(text, /hidden|off\.example/)
})

t.test('the link to the console signs in the demo administrator, and nobody with an AUTH_URL', async (t) => {
  t.match(banner(options), '  Console  http://127.0.0.1:8080/console#session=demo-admin-session\n')
  t.match(banner({ ...options, demoIdentity: false }), '  Console  http://127.0.0.1:8080/console\n')
})

t.test('the start text leaves out the sandbox provider when it is disabled', async (t) => {
  const text = banner({ ...options, sandboxProvider: false })
  t.equal(commands(text).length, 2)
  t.notMatch(text, 'sandbox')
})

t.test('with an AUTH_URL the commands contain placeholders that are safe in a shell', async (t) => {
  const text = banner({ ...options, demoIdentity: false })
  t.match(text, "-H 'Authorization: Bearer YOUR_SESSION'")
  t.match(text, "-H 'Authorization: Token YOUR_GUEST_TOKEN'")
  t.notMatch(text, /demo-|[<>]/)
})
