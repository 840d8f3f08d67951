import t from 'tap'
import { chatSamples } from '../../testing/chatSamples.ts'
import { bareFacts, customerNamed, paymentFacts } from '../../testing/eventFixtures.ts'
import type { NamedFacts } from '../webhookFacts.ts'
import { type ChatService, chatBody } from './chatServices.ts'

const facts: NamedFacts = { ...paymentFacts, ...customerNamed('ann_b@example.com'), payment_id: 'pi_<1>' }
const hostile = '<!channel> *b* _i_ `c` ~s~ [x](https://evil.example) @here & "q" # {{DATE(2026-01-02T03:04:05Z)}}'

const body = (service: ChatService, more: Partial<NamedFacts> = {}, url = chatSamples[service].url): unknown =>
  JSON.parse(chatBody(service, { ...facts, ...more }, new URL(url)))
const lines = (service: ChatService, more: Partial<NamedFacts> = {}) => JSON.stringify(body(service, more))

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

t.test('a Slack webhook gets blocks of plain text [6.2-slack]', async (t) => {
  t.same(body('slack', { is_test: true }), {
    text: 'Test: Payment succeeded 22.00 USD',
    mrkdwn: false,
    blocks: [
      { type: 'header', text: plain('Test: Payment succeeded') },
      {
        type: 'section',
        fields: [
          plain('Amount: 22.00 USD'),
          plain('Customer: ann_b@example.com'),
          plain('Status: succeeded'),
          plain('Payment: pi_&lt;1&gt;'),
          plain('Time: 2026-01-02 03:04:05 UTC'),
          plain('Provider: stripe'),
        ],
      },
    ],
  })
  t.same(body('slack', { ...bareFacts, ...customerNamed(hostile), provider: '', timestamp: '' }), {
    text: 'Customer created',
    mrkdwn: false,
    blocks: [
      { type: 'header', text: plain('Customer created') },
      {
        type: 'section',
        fields: [
          plain(
            'Customer: &lt;!channel&gt; *b* _i_ `c` ~s~ [x](https://evil.example) @here &amp; "q" # {{DATE(2026-01-02T03:04:05Z)}}',
          ),
        ],
      },
    ],
  })
})

for (const kind of ['workflows', 'triggers']) {
  t.test(`Slack ${kind} always get the same variables, all of them strings`, async (t) => {
    const url = `https://hooks.slack.com/${kind}/T0/1/abc`
    t.same(body('slack', { is_test: true, status: '<a&b>' }, url), {
      title: 'Test: Payment succeeded',
      event: 'payment.succeeded',
      amount: '22.00 USD',
      customer: 'ann_b@example.com',
      status: '&lt;a&amp;b&gt;',
      payment: 'pi_&lt;1&gt;',
      time: '2026-01-02 03:04:05 UTC',
      provider: 'stripe',
    })
    t.same(body('slack', { ...bareFacts, timestamp: 'soon', provider: '' }, url), {
      title: 'Customer created',
      event: 'stripe:customer.created',
      amount: '',
      customer: '',
      status: '',
      payment: '',
      time: '',
      provider: '',
    })
  })
}

t.test('Discord gets an embed without mentions [6.2-discord]', async (t) => {
  t.same(body('discord', { is_test: true, event: 'payment.failed', ...customerNamed(hostile), status: '1. - + :x:' }), {
    embeds: [
      {
        title: 'Test: Payment failed',
        color: 0xe74c3c,
        fields: [
          { name: 'Amount', value: '22.00 USD', inline: true },
          {
            name: 'Customer',
            value: String.raw`\<!channel\> \*b\* \_i\_ \`c\` \~s\~ \[x\]\(https\://evil.example\) @here & "q" \# \{\{DATE\(2026-01-02T03\:04\:05Z\)\}\}`,
            inline: true,
          },
          { name: 'Status', value: String.raw`1\. - + \:x\:`, inline: true },
          { name: 'Payment', value: String.raw`pi\_\<1\>`, inline: true },
          { name: 'Provider', value: 'stripe', inline: true },
        ],
        timestamp: '2026-01-02T03:04:05.678Z',
      },
    ],
    allowed_mentions: { parse: [] },
  })
})

const run = (name: string, text: string) => ({
  type: 'RichTextBlock',
  spacing: 'Small',
  inlines: [
    { type: 'TextRun', text: `${name}: `, weight: 'Bolder' },
    { type: 'TextRun', text },
  ],
})

t.test('Teams gets an adaptive card, for workflows and connectors [6.2-teams]', async (t) => {
  const card = {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            {
              type: 'TextBlock',
              text: 'Test: Payment succeeded',
              weight: 'Bolder',
              size: 'Medium',
              color: 'Good',
              wrap: true,
            },
            run('Amount', '22.00 USD'),
            run(
              'Customer',
              '<!channel> *b* _i_ `c` ~s~ [x](https://evil.example) @here & "q" # { {DATE(2026-01-02T03:04:05Z)}}',
            ),
            run('Status', 'succeeded'),
            run('Payment', 'pi_<1>'),
            run('Time', '2026-01-02 03:04:05 UTC'),
            run('Provider', 'stripe'),
          ],
        },
      },
    ],
  }
  t.same(body('teams', { is_test: true, ...customerNamed(hostile) }), card)
  t.same(body('teams', { is_test: true, ...customerNamed(hostile) }, 'https://a.webhook.office.com/webhookb2/1'), card)
})

t.test('Google Chat gets a card whose texts are escaped HTML [6.2-google-chat]', async (t) => {
  const widget = (topLabel: string, text: string) => ({ decoratedText: { topLabel, text, wrapText: true } })
  t.same(body('google-chat', { is_test: true, ...customerNamed(`<users/all> <a href="x">${"'"}`) }), {
    cardsV2: [
      {
        cardId: '1',
        card: {
          header: { title: 'Test: Payment succeeded' },
          sections: [
            {
              widgets: [
                widget('Amount', '22.00 USD'),
                widget('Customer', '&lt;users/all&gt; &lt;a href=&quot;x&quot;&gt;&#39;'),
                widget('Status', 'succeeded'),
                widget('Payment', 'pi_&lt;1&gt;'),
                widget('Time', '2026-01-02 03:04:05 UTC'),
                widget('Provider', 'stripe'),
              ],
            },
          ],
        },
      },
    ],
  })
  t.same(body('google-chat', { ...bareFacts, timestamp: '', provider: '' }), {
    cardsV2: [{ cardId: '1', card: { header: { title: 'Customer created' } } }],
  })
})

t.test('Mattermost gets an attachment without mentions, links or markup [6.2-mattermost]', async (t) => {
  const field = (title: string, value: string) => ({ title, value, short: true })
  t.same(body('mattermost', { is_test: true, ...customerNamed(hostile), status: 'a@b @all,@x-@y WWW.evil.example' }), {
    text: 'Test: Payment succeeded',
    attachments: [
      {
        fallback: 'Test: Payment succeeded 22.00 USD',
        color: '#2ecc71',
        fields: [
          field('Amount', '22.00 USD'),
          field(
            'Customer',
            '&lt;\\!channel\\> \\*b\\* \\_i\\_ \\`c\\` \\~s\\~ \\[x\\]\\(https:\u200b//evil.example\\) @\u200bhere &amp; "q" \\# \\{\\{DATE\\(2026-01-02T03:04:05Z\\)\\}\\}',
          ),
          field('Status', 'a@b @\u200ball,@\u200bx-@\u200by WWW\u200b.evil.example'),
          field('Payment', 'pi\\_&lt;1\\>'),
          field('Time', '2026-01-02 03:04:05 UTC'),
          field('Provider', 'stripe'),
        ],
      },
    ],
  })
  // A combining mark, which matches \p{L} in a case-insensitive regular expression.
  t.match(lines('mattermost', { status: '\u0345@here' }), '\u0345@\u200bhere')
})

t.test('Telegram gets HTML with the chat_id of the URL [6.2-telegram]', async (t) => {
  t.same(body('telegram', { is_test: true, ...customerNamed('</code><b>&amp; @someone /start') }), {
    chat_id: '-1001',
    text: [
      '<b>Test: Payment succeeded</b>',
      'Amount: <code>22.00 USD</code>',
      'Customer: <code>&lt;/code&gt;&lt;b&gt;&amp;amp; @someone /start</code>',
      'Status: <code>succeeded</code>',
      'Payment: <code>pi_&lt;1&gt;</code>',
      'Time: <code>2026-01-02 03:04:05 UTC</code>',
      'Provider: <code>stripe</code>',
    ].join('\n'),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
  t.same(body('telegram', bareFacts, 'https://api.telegram.org/bot1:abc/sendMessage'), {
    text: '<b>Customer created</b>\nTime: <code>2026-01-02 03:04:05 UTC</code>\nProvider: <code>stripe</code>',
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
})

for (const service of ['slack', 'teams', 'google-chat', 'telegram'] as const) {
  t.test(`${service} shows an ordinary e-mail address unchanged`, async (t) => {
    t.match(lines(service), 'ann_b@example.com')
  })
}
