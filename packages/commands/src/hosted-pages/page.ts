// The page that sends a payer on to a provider's hosted form: it posts the token in its own URL's fragment to the form.
import { createHash } from 'node:crypto'

/**
 * Browsers never send the fragment, so the token is in no log and no referrer. Without a token nothing is posted: the payer may
 * have come back, or opened a bookmark.
 */
const script = `
const token = new URLSearchParams('token=' + location.hash.slice(1)).get('token')
const form = document.querySelector('form')
if (!token) {
  form.hidden = true
  document.querySelector('#missing').hidden = false
} else {
  form.elements.token.value = token
  form.submit()
}
`

const html = (formUrl: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Payment</title>
</head>
<body>
<form method="post" action="${formUrl}">
<input type="hidden" name="token">
<button>Continue to the payment</button>
</form>
<p id="missing" hidden>This link to the payment is not complete. Go back to the shop and try again.</p>
<noscript><p>The payment needs JavaScript.</p></noscript>
<script>${script}</script>
</body>
</html>
`

const scriptHash = createHash('sha256').update(script).digest('base64')

/** @param formUrl of the provider's form, which takes the field `token` */
export function hostedPage(formUrl: string): { readonly html: string; readonly contentSecurityPolicy: string } {
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src 'sha256-${scriptHash}'`,
    `form-action ${new URL(formUrl).origin}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return { html: html(formUrl), contentSecurityPolicy }
}
