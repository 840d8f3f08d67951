// Microsoft Teams: adaptive cards, for workflows and the older connectors.
import { type ChatAdapter, isHostOf } from './chatAdapter.ts'
import { type ChatField, type ChatMessage, chatFields } from './chatMessage.ts'

const colors = { good: 'Good', bad: 'Attention', neutral: 'Default' } as const

/** Their responses differ from those of workflows. */
const connectors = [
  { hosts: ['.webhook.office.com'], path: /^\/webhookb2\/./ },
  { hosts: ['outlook.office.com', 'outlook.office365.com'], path: /^\/webhook\/./ },
]
const connectorHosts = connectors.flatMap(({ hosts }) => hosts)

export const teams: ChatAdapter = {
  addresses: [
    { hosts: ['.environment.api.powerplatform.com'], path: /^\/powerautomate\/./ },
    { hosts: ['.logic.azure.com'], path: /^\/workflows\/./ },
    ...connectors,
  ],
  message: cardOf,
  // A workflow responds with 202. A connector responds with 200 and the body "1" or an error text.
  isDelivered: ({ httpStatus, body }, url) =>
    isHostOf(connectorHosts, url)
      ? httpStatus === 200 && body.trim() === '1'
      : httpStatus === 202 || httpStatus === 200,
}

/** Limit: 28 KB per message. */
function cardOf(message: ChatMessage): object {
  const { title, tone } = message
  const heading = { type: 'TextBlock', text: title, weight: 'Bolder', size: 'Medium', color: colors[tone], wrap: true }
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [heading, ...chatFields(message).map(factLine)],
  }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
  return { type: 'message', attachments: [attachment] }
}

/** A FactSet would render Markdown; the text runs of a RichTextBlock do not. */
function factLine({ name, text }: ChatField): object {
  const inlines = [
    { type: 'TextRun', text: `${name}: `, weight: 'Bolder' },
    { type: 'TextRun', text: withoutFunctions(text) },
  ]
  return { type: 'RichTextBlock', spacing: 'Small', inlines }
}

/** Teams evaluates `{{DATE(…)}}` anywhere in a text. */
function withoutFunctions(text: string): string {
  return text.replaceAll(/\{(?=\{)/g, '{ ')
}
