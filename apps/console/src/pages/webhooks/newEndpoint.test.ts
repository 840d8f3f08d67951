import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import t from 'tap'
import { environmentLines, freeNumber, newSecret } from './newEndpoint.ts'

const variables = (lines: string) =>
  Object.fromEntries(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(/=(.*)/)),
  )

t.test('the worker accepts the lines of a new endpoint', async (t) => {
  const given = { name: 'Shop', url: 'https://shop.example.com/paylog', events: 'payment.*', mode: 'both' }
  const lines = environmentLines(3, { ...given, secret: newSecret() })
  const { endpoints, problems, warnings } = decodeEndpoints(variables(lines))
  t.same([problems, warnings], [[], []])
  t.match(endpoints, [{ name: '3', label: 'Shop', url: given.url, patterns: ['payment.*'], mode: 'both' }])
  t.equal(endpoints[0]?.secrets.length, 1)
})

t.test('what is by default needs no line', async (t) => {
  const given = { name: ' ', url: 'https://a.example', events: 'all', mode: 'canonical', secret: '' }
  t.equal(environmentLines(1, given), 'WEBHOOK_1_ENABLED=true\nWEBHOOK_1_URL=https://a.example\n')
})

t.test('a new endpoint gets a number that none has or had', async (t) => {
  t.equal(freeNumber([]), 1)
  t.equal(freeNumber([{ endpoint: '1' }, { endpoint: '4' }, { endpoint: 'legacy-9' }]), 5)
})
