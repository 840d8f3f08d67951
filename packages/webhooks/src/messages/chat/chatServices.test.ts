import t from 'tap'
import { formatByHost } from './chatServices.ts'

const addresses: Readonly<Record<string, readonly string[]>> = {
  slack: [
    'https://hooks.slack.com/services/T0/B0/abc',
    'https://hooks.slack-gov.com/services/T0/B0/abc',
    'https://hooks.slack.com/workflows/T0/A0/1/abc',
    'https://hooks.slack.com/triggers/T0/1/abc',
    'https://HOOKS.Slack.com:443/services/T0/B0/abc',
  ],
  discord: [
    'https://discord.com/api/webhooks/1/abc',
    'https://discord.com/api/v10/webhooks/1/abc?wait=true',
    'https://discordapp.com/api/webhooks/1/abc',
    'https://ptb.discord.com/api/webhooks/1/abc',
    'https://canary.discordapp.com/api/webhooks/1/abc/',
  ],
  teams: [
    'https://default1.2.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/1/triggers/manual/paths/invoke?sig=abc',
    'https://prod-12.westeurope.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke?sig=abc',
    'https://example.webhook.office.com/webhookb2/1@2/IncomingWebhook/3/4',
    'https://outlook.office.com/webhook/1@2/IncomingWebhook/3/4',
    'https://outlook.office365.com/webhook/1@2/IncomingWebhook/3/4',
  ],
  'google-chat': ['https://chat.googleapis.com/v1/spaces/AAA/messages?key=1&token=2'],
  telegram: ['https://api.telegram.org/bot1:abc/sendMessage?chat_id=-1001'],
  json: [
    'https://example.com/hooks/abcdefghijklmnopqrstuvwxyz',
    'https://hooks.slack.com.evil.example/services/T0/B0/abc',
    'https://hooks.slack.com@evil.example/services/T0/B0/abc',
    'https://evil.example/?hooks.slack.com/services/T0/B0/abc',
    'https://xhooks.slack.com/services/T0/B0/abc',
    'https://hooks.slack.com/',
    'https://slack.com/services/T0/B0/abc',
    'https://evildiscord.com/api/webhooks/1/abc',
    'https://other.discord.com/api/webhooks/1/abc',
    'https://discord.com/api/webhooks/1',
    'https://discord.com/api/webhooks/1/abc/slack',
    'https://webhook.office.com.evil.example/webhookb2/1',
    'https://evilwebhook.office.com/webhookb2/1',
    'https://example.webhook.office.com/other',
    'https://prod-12.westeurope.logic.azure.com/other',
    'https://evil-outlook.office.com/webhook/1',
    'https://a.environment.api.powerplatform.com.evil.example/powerautomate/1',
    'https://chat.googleapis.com/v1/spaces/AAA/members',
    'https://evilchat.googleapis.com/v1/spaces/AAA/messages',
    'https://api.telegram.org/bot1:abc/sendPhoto',
  ],
}

for (const [format, urls] of Object.entries(addresses)) {
  for (const url of urls) {
    t.test(`the format of ${url} is ${format}`, async (t) => {
      t.equal(formatByHost(new URL(url)), format)
    })
  }
}
