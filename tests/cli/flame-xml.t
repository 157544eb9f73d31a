needs: xmllint

The picture is well-formed whatever the names and options hold.

  $ printf 'a<b>;c&d;"e";%b;%b;]]>;-->;é;%b 100\n' '\001\037' '\377\200' '\357\277\277' >odd.folded
  $ for i in {1..20}; do echo "plain;names;around;it;$i 1"; done >>odd.folded
  $ wick flame odd.folded | xmllint --noout -
  $ wick flame --no-javascript odd.folded | xmllint --noout -
  $ wick flame odd.folded | xmllint --xpath 'count(//*[local-name()="title"])' -
  34
  $ wick flame --title '<t>&"' --subtitle ']]>' --notes 'a -- b ---' --countname '<&>' --nametype "]]>'" odd.folded |
  >   xmllint --noout -
  $ printf 'a<b>\thref=x?a&b"<\tclass=q"<\tg_extra=data-x="&amp; & &bogus;" on='"'"'"'"'"'\n' >attributes
  $ wick flame --nameattr attributes odd.folded >out.svg; xmllint --noout out.svg
  $ xmllint --xpath '//*[@data-x]/@*' out.svg
   xlink:href="x?a&amp;b&quot;&lt;"
   target="_top"
   class="q&quot;&lt;"
   data-x="&amp; &amp; &amp;bogus;"
   on="&quot;"
