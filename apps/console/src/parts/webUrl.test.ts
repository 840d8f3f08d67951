import t from 'tap'
import { isWebUrl } from './webUrl.ts'

t.test('only addresses of the web become links', async (t) => {
  for (const url of ['https://example.com/a?b#c', 'http://127.0.0.1:8080/']) t.ok(isWebUrl(url), url)
  for (const text of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.com',
    '/relative',
    '',
  ])
    t.notOk(isWebUrl(text), text)
})
