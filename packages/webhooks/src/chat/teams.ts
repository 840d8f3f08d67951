// Microsoft Teams: adaptive cards, for workflows and for the older connectors.
import { type Chat, isHostOf } from './chat.ts'
import { type ChatField, type ChatMessage, chatFields } from './chatMessage.ts'

const colors = { good: 'Good', bad: 'Attention', neutral: 'Default' } as const

/** They answer otherwise than a workflow. */
const connectors = [
  { hosts: ['.webhook.office.com'], path: /^\/webhookb2\/./ },
  { hosts: ['outlook.office.com', 'outlook.office365.com'], path: /^\/webhook\/./ },
]
const connectorHosts = connectors.flatMap(({ hosts }) => hosts)

export const teams: Chat = {
  addresses: [
    { hosts: ['.environment.api.powerplatform.com'], path: /^\/powerautomate\/./ },
    { hosts: ['.logic.azure.com'], path: /^\/workflows\/./ },
    ...connectors,
  ],
  message: cardOf,
  // A workflow takes a request on with 202; a connector answers "1", or the text of an error, both with 200.
  isDelivered: ({ httpStatus, body }, url) =>
    isHostOf(connectorHosts, url)
      ? httpStatus === 200 && body.trim() === '1'
      : httpStatus === 202 || httpStatus === 200,
}

/** A message has at most 28 KB. */
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

/** A set of facts would read Markdown; the text runs of a rich text block do not, by the schema of adaptive cards. */
function factLine({ name, text }: ChatField): object {
  const inlines = [
    { type: 'TextRun', text: `${name}: `, weight: 'Bolder' },
    { type: 'TextRun', text: withoutFunctions(text) },
  ]
  return { type: 'RichTextBlock', spacing: 'Small', inlines }
}

/** `{{DATE(…)}}` is formatted by the reader's client wherever it stands. */
function withoutFunctions(text: string): string {
  return text.replaceAll(/\{(?=\{)/g, '{ ')
}
