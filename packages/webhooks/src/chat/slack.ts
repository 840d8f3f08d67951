// Slack: messages to incoming webhooks, and variables to workflows.
import { type ChatMessage, factsOf, timeText } from './chatMessage.ts'

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
 * Blocks of plain text, in which nothing is markup: its mrkdwn has no way to write a literal `*`. Limits are 150
 * characters of a header, 2000 of a field (docs.slack.dev, Block Kit).
 */
export function slackMessage(message: ChatMessage, url: URL): object {
  if (isSlackWorkflow(url)) return workflowVariables(message)
  const { title, amount } = message
  const fields = factsOf(message).map(({ name, text }) => plainText(`${name}: ${escapeSlack(text)}`))
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
    event: escapeSlack(event),
    amount,
    customer: escapeSlack(customer),
    status: escapeSlack(status),
    payment: escapeSlack(payment),
    time: time === undefined ? '' : timeText(time),
    provider: escapeSlack(provider),
  }
}

/** The three characters that Slack reads in every text: with them mentions such as `<!channel>` and links are made. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
