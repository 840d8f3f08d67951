import t from 'tap'
import { linkTo, stateSentence, worstFirst } from './attentionText.ts'

type Code = Parameters<typeof stateSentence>[0][number]['code']
const sentence = (...codes: Code[]) => stateSentence(codes.map((code) => ({ code }))).text

t.test('one sentence says whether everything works, and how much needs a look', async (t) => {
  t.equal(sentence(), 'Everything is working, and nothing needs attention')
  t.equal(sentence('evidence_due'), 'Everything is working; 1 thing needs a look')
  t.equal(sentence('evidence_due', 'amount_mismatch', 'provider_silent'), 'Everything is working; 3 things need a look')
  t.equal(sentence('endpoint_failing'), '1 thing is not working')
  t.equal(
    sentence('endpoint_failing', 'log_not_verified', 'evidence_due'),
    '2 things are not working; 1 more needs a look',
  )
})

t.test('what could not be looked at is never called working', async (t) => {
  t.equal(sentence('attention_unknown'), 'Not everything could be checked; nothing else needs attention')
  t.equal(
    sentence('attention_unknown', 'evidence_due'),
    'What could be checked is working; 1 thing needs a look; not everything could be checked',
  )
  t.match(sentence('attention_unknown', 'endpoint_failing'), /1 thing is not working; not everything could be checked/)
})

t.test('what does not work is listed before what needs a look, otherwise in the order of the API', async (t) => {
  const items = (['provider_silent', 'evidence_due', 'endpoint_failing', 'endpoint_paused'] as const).map((code) => ({
    code,
  }))
  t.same(
    worstFirst(items).map(({ code }) => code),
    ['endpoint_failing', 'endpoint_paused', 'provider_silent', 'evidence_due'],
  )
})

t.test('the link of an item leads to a page of the console', async (t) => {
  t.same(linkTo('/webhooks/endpoints/1?status=failed'), { to: '/webhooks/endpoints/1', search: { status: 'failed' } })
  t.same(linkTo('/audit'), { to: '/audit', search: {} })
})
