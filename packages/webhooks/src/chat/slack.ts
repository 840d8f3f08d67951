// Slack: messages to incoming webhooks, and variables to workflows.
import { type ChatMessage, factsOf, timeText } from './chatMessage.ts'
import { escapeMarkup } from './escapeMarkup.ts'

/** The hosts that Slack itself answers on. */
export const slackHosts: readonly string[] = ['hooks.slack.com', 'hooks.slack-gov.com']

export function isSlackHost({ hostname }: URL): boolean {
  return slackHosts.includes(hostname)
}

/** Whether the address starts a workflow instead of posting a message. */
export function isSlackWorkflow({ pathname }: URL): boolean {
  return /^\/(workflows|triggers)\//.test(pathname)
}

/**
 * Blocks of plain text, in which nothing is markup but `<!channel>` and its like: mrkdwn has no way to write a literal `*`. Limits are 150
 * characters of a header, 2000 of a field (docs.slack.dev, Block Kit).
 */
export function slackMessage(message: ChatMessage, url: URL): object {
  if (isSlackWorkflow(url)) return workflowVariables(message)
  const { title, amount } = message
  const fields = factsOf(message).map(({ name, text }) => plainText(`${name}: ${escapeMarkup(text)}`))
  return {
    // What notifications show, and markup unless told otherwise: nothing of strangers in it.
    text: amount === undefined ? title : `${title} ${amount}`,
    mrkdwn: false,
    blocks: [{ type: 'header', text: plainText(title) }, ...(fields.length === 0 ? [] : [{ type: 'section', fields }])],
  }
}

const plainText = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** The same names each time, all text: a workflow refuses what lacks one of its variables. */
function workflowVariables({
  title,
  event,
  amount = '',
  customer = '',
  status = '',
  payment = '',
  time,
  provider = '',
}: ChatMessage) {
  return {
    title,
    event: escapeMarkup(event),
    amount,
    customer: escapeMarkup(customer),
    status: escapeMarkup(status),
    payment: escapeMarkup(payment),
    time: time === undefined ? '' : timeText(time),
    provider: escapeMarkup(provider),
  }
}
