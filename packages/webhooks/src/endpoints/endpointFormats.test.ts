import t from 'tap'
import { chatServices } from '../messages/chat/chatServices.ts'
import { decodeEndpoints } from './endpoints.ts'

const indexed = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://example.com/1' }
const problemsOf = (env: Record<string, string>) => decodeEndpoints(env).problems

t.test('the format of an endpoint is the configured one, or follows from its host [10.4-format]', async (t) => {
  const formatOf = (url: string, format?: string) =>
    decodeEndpoints({ ...indexed, WEBHOOK_1_URL: url, ...(format === undefined ? {} : { WEBHOOK_1_FORMAT: format }) })
      .endpoints[0]?.format
  const slack = 'https://hooks.slack.com/services/T0/B0/x'
  // Telegram requires the id of a chat.
  for (const format of ['json', ...chatServices])
    for (const url of ['https://example.com?chat_id=1', `${slack}?chat_id=1`]) t.equal(formatOf(url, format), format)
  for (const automatic of [undefined, '', 'auto', ' auto ']) {
    t.equal(formatOf(slack, automatic), 'slack')
    t.equal(formatOf('https://hooks.slack.com.example.com/services/T0/B0/x', automatic), 'json')
  }
  const [first, second] = decodeEndpoints({ EXTERNAL_WEBHOOK_URLS: `${slack},https://example.com` }).endpoints
  t.strictSame([first?.format, second?.format], ['slack', 'json'])
})

t.test('a Telegram endpoint without chat_id is a configuration problem', async (t) => {
  const bot = 'https://api.telegram.org/bot1:made-up/sendMessage'
  const sentence = 'must name the Telegram chat with ?chat_id='
  for (const url of [bot, `${bot}?chat_id=`, `${bot}?chat=-1`]) {
    t.strictSame(problemsOf({ ...indexed, WEBHOOK_1_URL: url }), [`WEBHOOK_1_URL ${sentence}`])
    t.strictSame(problemsOf({ EXTERNAL_WEBHOOK_URLS: `${bot}?chat_id=-1,${url}` }), [
      `EXTERNAL_WEBHOOK_URLS ${sentence}`,
    ])
    t.strictSame(problemsOf({ ...indexed, WEBHOOK_1_URL: url, WEBHOOK_1_FORMAT: 'json' }), [])
  }
  const own = { ...indexed, WEBHOOK_1_FORMAT: 'telegram' }
  t.strictSame(problemsOf(own), [`WEBHOOK_1_URL ${sentence}`])
  t.strictSame(problemsOf({ ...own, WEBHOOK_1_URL: 'https://example.com/bot?chat_id=@shop' }), [])
  const missing = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_FORMAT: 'telegram' }
  t.strictSame(problemsOf(missing), ['WEBHOOK_1_URL is required'])
})
