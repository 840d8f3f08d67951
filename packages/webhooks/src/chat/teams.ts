// Microsoft Teams: adaptive cards, for workflows and for the older connectors.
import { type ChatMessage, type Fact, factsOf } from './chatMessage.ts'

const colors = { good: 'Good', bad: 'Attention', neutral: 'Default' } as const

/** Whether the address belongs to a connector, which answers otherwise than a workflow. */
export function isTeamsConnector({ hostname }: URL): boolean {
  return hostname.endsWith('.webhook.office.com') || ['outlook.office.com', 'outlook.office365.com'].includes(hostname)
}

/** A message has at most 28 KB. */
export function teamsMessage(message: ChatMessage): object {
  const { title, tone } = message
  const heading = { type: 'TextBlock', text: title, weight: 'Bolder', size: 'Medium', color: colors[tone], wrap: true }
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [heading, ...factsOf(message).map(factLine)],
  }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
  return { type: 'message', attachments: [attachment] }
}

/** A set of facts would read Markdown; the text runs of a rich text block do not, by the schema of adaptive cards. */
function factLine({ name, text }: Fact): object {
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
