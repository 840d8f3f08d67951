// The credentials of the demo identity, as the documentation page shows them.
import { demoGuestTokens, demoSessions } from '@paylog/identity/sandboxIdentity'

const rows = [
  ...demoSessions.map(({ session_id, user }) => [user.userType, user.email, `session \`${session_id}\``]),
  ...demoGuestTokens.map(({ token, email }) => ['guest', email, `guest token \`${token}\``]),
]

/** In Markdown. */
export const demoCredentials = [
  '**Demo credentials**, for Authorize:',
  ['| caller | e-mail | credential |', '|---|---|---|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n'),
].join('\n\n')
