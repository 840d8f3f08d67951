import t from 'tap'
import { endpointUrl, redactedUrl } from './endpointUrl.ts'

t.test('endpointUrl normalises a valid URL', async (t) => {
  const valid = {
    'https://example.com': 'https://example.com/',
    'HTTPS://EXAMPLE.COM/A?b=C%20d': 'https://example.com/A?b=C%20d',
    'http://127.0.0.1:9/b?key=1': 'http://127.0.0.1:9/b?key=1',
    'http://[::1]:8080/': 'http://[::1]:8080/',
    'http://my_service:8080/hook': 'http://my_service:8080/hook',
    'https://пример.example/': 'https://xn--e1afmkfd.example/',
    'https://example.com/a,b?urls=https://a.example,https://b.example':
      'https://example.com/a,b?urls=https://a.example,https://b.example',
  }
  for (const [text, url] of Object.entries(valid)) t.equal(endpointUrl(text), url, text)
})

t.test('endpointUrl rejects invalid URLs and probable mistakes', async (t) => {
  const invalid = [
    '"https://example.com"',
    'https://a.example/x https://b.example/y',
    'https://a.example/x\nhttps://b.example/y',
    'https://exa\u200bmple.com/',
    'https://example.com/\u200b',
    'https://a.example,https://b.example',
    'https://a.example/x,https://b.example/y',
    'https:example.com',
    'https:/example.com',
    String.raw`https:\\example.com`,
    'https://example.com/#channel',
    'https://example.com/#',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an unexpanded variable.
    'https://${HOST}/hook',
    'https://user@example.com',
    'https://:password@example.com',
    'https://',
    'https:///example.com',
    'https://example.com:99999',
    'ftp://example.com',
    'example.com',
  ]
  for (const text of invalid) t.equal(endpointUrl(text), undefined, text)
})

t.test(
  'redactedUrl shows host and path, and hides the query, key-like segments and the path of a chat service',
  async (t) => {
    const shown = (url: string, format = 'json') => redactedUrl({ url, format })
    t.equal(shown('https://example.com/hooks/paylog?token=abc'), 'https://example.com/hooks/paylog')
    t.equal(shown('http://127.0.0.1:9000/'), 'http://127.0.0.1:9000/')
    t.equal(shown('https://example.com/in/a1b2c3d4e5/paylog'), 'https://example.com/in/…/paylog')
    t.equal(shown('https://hooks.slack.com/services/T0/B0/abc', 'slack'), 'https://hooks.slack.com/…')
    t.equal(shown('https://api.telegram.org/botkey/sendMessage?chat_id=1', 'telegram'), 'https://api.telegram.org/…')
  },
)
