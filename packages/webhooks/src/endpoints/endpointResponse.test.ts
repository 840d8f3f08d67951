import t from 'tap'
import type { EndpointResponse } from '../messages/chat/chatAdapter.ts'
import type { WebhookFormat } from '../messages/chat/chatServices.ts'
import { isDelivered, retryAfterMs } from './endpointResponse.ts'

const now = new Date('2026-01-02T03:04:05.000Z')
const response = (httpStatus: number, body = '', retryAfter?: string | string[]): EndpointResponse => ({
  httpStatus,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  body,
})

const slack = 'https://hooks.slack.com/services/T0/B0/abc'
const trigger = 'https://hooks.slack.com/triggers/T0/1/abc'
const connector = 'https://example.webhook.office.com/webhookb2/1'
const workflow = 'https://a.environment.api.powerplatform.com/powerautomate/1'
const otherHost = 'https://example.com/hooks/1'
const connectorError = 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429'

const cases: readonly (readonly [WebhookFormat, string, number, string, boolean])[] = [
  ['slack', slack, 200, 'ok', true],
  ['slack', slack, 200, 'ok\n', true],
  ['slack', slack, 200, 'invalid_payload', false],
  ['slack', slack, 200, '', false],
  ['slack', slack, 400, 'ok', false],
  ['slack', trigger, 200, '', true],
  ['slack', trigger, 200, '{"ok":true}', true],
  ['slack', trigger, 200, '{"ok": false, "error": "workflow_not_published"}', false],
  ['slack', trigger, 404, '{"ok":true}', false],
  ['slack', 'https://hooks.slack-gov.com/services/T0/B0/abc', 200, '', false],
  ['slack', otherHost, 200, '', true],
  ['slack', otherHost, 200, '{"success":true}', true],
  ['slack', 'https://example.com/triggers/1', 200, '{"ok":false}', true],
  ['slack', 'https://hooks.slack.com.example/services/T0/B0/abc', 200, '', true],
  ['slack', otherHost, 204, '', false],
  ['slack', otherHost, 400, 'ok', false],
  ['discord', otherHost, 204, '', true],
  ['discord', otherHost, 200, '{}', true],
  ['discord', otherHost, 202, '', false],
  ['teams', workflow, 202, '', true],
  ['teams', workflow, 200, '', true],
  ['teams', workflow, 204, '', false],
  ['teams', connector, 200, '1', true],
  ['teams', connector, 200, connectorError, false],
  ['teams', connector, 200, '', false],
  ['teams', connector, 202, '1', false],
  ['teams', 'https://outlook.office.com/webhook/1', 200, connectorError, false],
  ['google-chat', otherHost, 200, '{}', true],
  ['google-chat', otherHost, 204, '', false],
  ['mattermost', otherHost, 200, 'ok', true],
  ['mattermost', otherHost, 201, 'ok', false],
  ['telegram', otherHost, 200, '{"ok":true,"result":{', true],
  ['telegram', otherHost, 200, '{"ok":false,"error_code":400}', false],
  ['telegram', otherHost, 200, '<html>', false],
  ['telegram', otherHost, 201, '{"ok":true}', false],
]
for (const [format, url, status, body, expected] of cases) {
  t.test(
    `a ${format} response ${status} ${JSON.stringify(body)} from ${url} is ${expected ? '' : 'not '}delivered`,
    async (t) => {
      t.equal(isDelivered({ format, url }, response(status, body), '200'), expected)
      t.equal(
        isDelivered({ format, url }, response(status, body), '2xx'),
        expected,
        'WEBHOOK_SUCCESS_STATUS does not apply',
      )
    },
  )
}

t.test(
  'WEBHOOK_SUCCESS_STATUS determines which statuses of a JSON endpoint are delivered [10.4-success-status]',
  async (t) => {
    const endpoint = { format: 'json', url: slack } as const
    const delivered = (status: number, mode: '200' | '2xx') => isDelivered(endpoint, response(status, 'no'), mode)
    t.same(
      [200, 201, 204, 299, 199, 300, 301, 410].filter((status) => delivered(status, '200')),
      [200],
    )
    t.same(
      [200, 201, 204, 299, 199, 300, 301, 410].filter((status) => delivered(status, '2xx')),
      [200, 201, 204, 299],
    )
  },
)

const headers: readonly (readonly [string | string[] | undefined, number | undefined])[] = [
  [undefined, undefined],
  ['0', 0],
  ['120', 120_000],
  [' 1.5 ', 1_500],
  [['7', '9'], 7_000],
  ['3600', 3_600_000],
  ['86400', 3_600_000],
  ['9'.repeat(400), 3_600_000],
  ['-1', undefined],
  ['', undefined],
  ['soon', undefined],
  ['1e3', undefined],
  ['2026', 2_026_000],
  ['2026-01-02T03:05:05Z', undefined],
  ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
  ['Friday, 02-Jan-26 03:04:35 GMT', 30_000],
  ['Fri Jan  2 03:04:35 2026', 30_000],
  ['Fri, 02 Jan 2026 03:04:05 GMT', 0],
  ['Fri, 02 Jan 2026 03:04:04 GMT', undefined],
  ['Fri, 32 Jan 2026 03:04:04 GMT', undefined],
  ['Fri, 02 Jan 2099 03:04:04 GMT', 3_600_000],
]
for (const [header, expected] of headers) {
  t.test(`the retry delay of Retry-After ${JSON.stringify(header)} is ${expected} ms`, async (t) => {
    t.equal(retryAfterMs('json', response(429, '{"retry_after":5}', header), now), expected)
  })
}

const bodies: readonly (readonly [WebhookFormat, string, string | undefined, number | undefined])[] = [
  ['discord', '{"message":"You are being rate limited.","retry_after":0.4235,"global":false}', '1', 424],
  ['discord', '{"retry_after":65.5}', undefined, 65_500],
  ['discord', '{"retry_after":-1}', '2', 2_000],
  ['discord', '{"retry_after":"5"}', '2', 2_000],
  ['discord', '<html>', '2', 2_000],
  ['discord', 'null', undefined, undefined],
  ['discord', '{"retry_after":1e300}', undefined, 3_600_000],
  ['telegram', '{"ok":false,"error_code":429,"parameters":{"retry_after":12}}', undefined, 12_000],
  ['telegram', '{"retry_after":12}', undefined, undefined],
  ['telegram', '{"ok":false,"parameters":null}', '3', 3_000],
  ['slack', '{"retry_after":12}', '3', 3_000],
]
for (const [format, body, header, expected] of bodies) {
  t.test(`the retry delay of a ${format} body ${body} with Retry-After ${header} is ${expected} ms`, async (t) => {
    t.equal(retryAfterMs(format, response(429, body, header), now), expected)
  })
}
